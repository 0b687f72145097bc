/*
 * Asks a service on loopback until it answers as it should: part of the launcher.
 *
 * The port is chosen here, among those that no outgoing connection gets, and nobody listens on it
 * before the command has it in PORT: whoever does is somebody else. A request is tried again until
 * an answer is as asked for. Nothing blocks: ask() does what can be done at once.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

static const int FIRST_PORT = 20000, LAST_PORT = 32767, PORT_TRIES = 500;
static const long ASK_AGAIN_MS = 100;
static const long ANSWER_LIMIT_MS = 5000;

struct question {
	const char *path, *contains; /* contains: NULL where the status says enough */
	int status, port;
	int connection; /* -1: none */
	bool sent, v6;
	long begun, next;
	size_t length;
	char seen[96]; /* what the last answer lacked */
	char answer[1024 * 1024];
};

static socklen_t loopback(struct sockaddr_storage *to, int port, bool v6)
{
	memset(to, 0, sizeof *to);
	if (v6) {
		struct sockaddr_in6 *address = (struct sockaddr_in6 *)to;
		address->sin6_family = AF_INET6;
		address->sin6_port = htons((uint16_t)port);
		address->sin6_addr = in6addr_loopback;
		return sizeof *address;
	}
	struct sockaddr_in *address = (struct sockaddr_in *)to;
	address->sin_family = AF_INET;
	address->sin_port = htons((uint16_t)port);
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof *address;
}

static int open_socket(bool v6)
{
	return socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Whether nobody listens there and the address can be had. A machine may lack IPv6. */
static bool is_free(int port, bool v6)
{
	struct sockaddr_storage address;
	socklen_t size = loopback(&address, port, v6);
	int own = open_socket(v6);
	if (own < 0)
		return v6;
	bool taken = bind(own, (struct sockaddr *)&address, size) && !(v6 && errno == EADDRNOTAVAIL);
	close(own);
	int other = open_socket(v6);
	if (other < 0)
		return false;
	bool heard = !connect(other, (struct sockaddr *)&address, size);
	close(other);
	return !taken && !heard;
}

/* A port that nobody listens on, by chance; -1: none was found. */
static int choose_port(void)
{
	for (int tries = 0; tries < PORT_TRIES; tries++) {
		unsigned int chance;
		if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
			return -1;
		int port = FIRST_PORT + (int)(chance % (unsigned int)(LAST_PORT - FIRST_PORT + 1));
		if (is_free(port, false) && is_free(port, true))
			return port;
	}
	return -1;
}

static void hang_up(struct question *q, long now)
{
	if (q->connection >= 0)
		close(q->connection);
	q->connection = -1;
	q->sent = false;
	q->length = 0;
	q->next = now + ASK_AGAIN_MS;
}

static void call(struct question *q, long now)
{
	struct sockaddr_storage address;
	q->v6 = !q->v6;
	socklen_t size = loopback(&address, q->port, q->v6);
	q->connection = open_socket(q->v6);
	q->begun = now;
	if (q->connection < 0 ||
	    (connect(q->connection, (struct sockaddr *)&address, size) && errno != EINPROGRESS))
		hang_up(q, now);
}

/* False where there is no connection, or one with itself: then nobody listens. */
static bool is_connected(const struct question *q)
{
	struct sockaddr_storage own, other;
	socklen_t own_size = sizeof own, other_size = sizeof other;
	int problem = 0;
	socklen_t size = sizeof problem;
	if (getsockopt(q->connection, SOL_SOCKET, SO_ERROR, &problem, &size) || problem)
		return false;
	if (getsockname(q->connection, (struct sockaddr *)&own, &own_size) ||
	    getpeername(q->connection, (struct sockaddr *)&other, &other_size))
		return false;
	return own_size != other_size || memcmp(&own, &other, own_size);
}

/* HTTP/1.0, so that the answer comes in one piece and ends with the connection. */
static bool send_request(struct question *q)
{
	char *request;
	int size = asprintf(&request,
			    "GET %s HTTP/1.0\r\nHost: localhost:%d\r\nUser-Agent: bernstein\r\n"
			    "Accept: */*\r\nConnection: close\r\n\r\n",
			    q->path, q->port);
	if (size < 0)
		return false;
	bool whole = send(q->connection, request, (size_t)size, MSG_NOSIGNAL) == size;
	free(request);
	return whole;
}

static int status_of(const char *answer, size_t length)
{
	int status;
	char line[16];
	if (length < 12)
		return -1;
	memcpy(line, answer, 12);
	line[12] = '\0';
	if (strncmp(line, "HTTP/1.", 7) || !isdigit((unsigned char)line[7]) || line[8] != ' ' ||
	    sscanf(line + 9, "%3d", &status) != 1)
		return 0;
	return status;
}

/* Whether the answer, as far as it has come, is as asked for; `over`: no more will come. */
static bool is_answered(struct question *q, bool over, bool *hopeless)
{
	int status = status_of(q->answer, q->length);
	*hopeless = over;
	if (status < 0) {
		if (over)
			snprintf(q->seen, sizeof q->seen, "something answered, and not in HTTP");
		return false;
	}
	if (status != q->status) {
		*hopeless = true;
		if (status)
			snprintf(q->seen, sizeof q->seen, "the last answer had the status %d", status);
		else
			snprintf(q->seen, sizeof q->seen, "something answered, and not in HTTP");
		return false;
	}
	if (!q->contains)
		return true;
	char *body = memmem(q->answer, q->length, "\r\n\r\n", 4);
	size_t head = body ? (size_t)(body + 4 - q->answer) : q->length;
	if (memmem(q->answer + head, q->length - head, q->contains, strlen(q->contains)))
		return true;
	snprintf(q->seen, sizeof q->seen, "the last answer had the status %d, and not the text",
		 status);
	return false;
}

/* Does what can be done at once; true: it has answered as asked for. */
static bool ask(struct question *q, long now)
{
	if (q->connection < 0 && now >= q->next)
		call(q, now);
	if (q->connection < 0)
		return false;
	if (now > q->begun + ANSWER_LIMIT_MS) {
		snprintf(q->seen, sizeof q->seen, "the last answer did not end in %ld s",
			 ANSWER_LIMIT_MS / 1000);
		hang_up(q, now);
		return false;
	}
	struct pollfd ready = {.fd = q->connection, .events = q->sent ? POLLIN : POLLOUT};
	if (poll(&ready, 1, 0) != 1)
		return false;
	if (!q->sent) {
		q->sent = is_connected(q) && send_request(q);
		if (!q->sent)
			hang_up(q, now);
		return false;
	}
	for (;;) {
		ssize_t got = recv(q->connection, q->answer + q->length,
				   sizeof q->answer - q->length, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		bool hopeless, over = got <= 0;
		q->length += got > 0 ? (size_t)got : 0;
		if (is_answered(q, over || q->length == sizeof q->answer, &hopeless))
			return true;
		if (hopeless) {
			hang_up(q, now);
			return false;
		}
	}
}
