/*
 * launcher: runs one command in a container and ends it cleanly.
 *
 *   launcher [--session FOLDER] [--stream FOLDER] [--stdin FILE] [--stdout FILE] [--stderr FILE] [--exit-record FILE]
 *            [--start-file FILE] [--stop-file FILE] [--seconds N] [--int-seconds N] [--term-seconds N]
 *            [--echo FILE] [--echo-end FILE] [--echo-hides FILE] -- COMMAND [ARG...]
 *   launcher --ask PATH [--ask-status N] [--ask-contains TEXT] [--ask-seconds N] -- COMMAND [ARG...]
 *
 * A folder stands for files of fixed names in it, where no other FILE is given: that of the session
 * for prompt.md (standard input), start, stop, output.log (echo) and output-end, that of the stream
 * for stdout.log, stderr.log and exit.json.
 *
 * With a start file the command is started when that file exists: somebody else is ready then. After
 * a minute without it the launcher gives up. The command gets a session and process group of its own. When the stop file appears, or the
 * launcher gets SIGTERM or SIGINT, the group gets SIGINT, after --int-seconds SIGTERM, after further
 * --term-seconds SIGKILL; the same where it is not done in --seconds. When the command has ended, every process it left behind is killed. The
 * launcher adopts and reaps orphans, as PID 1 or as sub-reaper.
 *
 * Whatever lines somebody else appends to the echo file are copied to standard output as they come, with
 * stars in place of what the file to hide holds. When the command has ended, they are copied until
 * the end file exists, at most for ten seconds. A reader that does not read holds nothing up.
 *
 * With --ask the command is a service: it gets a port in PORT and has to answer GET PATH on loopback
 * with that status (200) and text, while it runs, before the seconds are over. Then it is ended, by SIGTERM and
 * after at most two seconds by SIGKILL; one that is late gets SIGKILL at once. Exit code: 0 where it
 * has answered; 127 where its shell did not find it; else 1. The last line on standard error says why.
 *
 * Exit record: {"exitCode": N or null, "signal": N or null, "stopped": true or false}.
 * Exit code: the command's; 128 + signal; 124 where it was not done in time; 126 or 127 if it cannot be started; 125 for a wrong call or
 * files that cannot be opened.
 *
 * Static and self-contained, because it is copied into images of any kind.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"

enum { EXIT_NO_ANSWER = 1, EXIT_LATE = 124, EXIT_SETUP = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

static const long POLL_MS = 200;
static const long REAP_LIMIT_MS = 5000;
static const long START_POLL_MS = 20;
static const long START_LIMIT_MS = 60000;
static const long ECHO_POLL_MS = 50;
static const long ECHO_LIMIT_MS = 10000;
static const size_t HIDDEN_LEAST = 6;
static const long SERVICE_POLL_MS = 20;
static const long SERVICE_END_MS = 2000;

struct options {
	const char *input, *output, *error, *exit_record, *start_file, *stop_file;
	const char *echo, *echo_end, *echo_hides;
	const char *ask_path, *ask_contains;
	long limit_ms, int_ms, term_ms, ask_status, ask_ms;
	char **command;
};

enum stage { RUNNING, INTERRUPTED, TERMINATED, KILLED };

static void complain(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("launcher: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

__attribute__((noreturn)) static void fail_setup(const char *what, const char *name)
{
	complain("%s %s: %s", what, name, strerror(errno));
	exit(EXIT_SETUP);
}

static long number(const char *option, const char *text)
{
	char *end;
	errno = 0;
	long found = strtol(text, &end, 10);
	if (errno || end == text || *end || found < 0 || found > 86400) {
		complain("--%s takes a whole number from 0 to 86400, got '%s'", option, text);
		exit(EXIT_SETUP);
	}
	return found;
}

static long milliseconds(const char *option, const char *text)
{
	return number(option, text) * 1000;
}

static void set_within(const char **file, const char *folder, const char *name)
{
	char *path;
	if (!folder || *file)
		return;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		fail_setup("cannot name", name);
	*file = path;
}

static void set_files(struct options *o, const char *session, const char *stream)
{
	set_within(&o->input, session, "prompt.md");
	set_within(&o->start_file, session, "start");
	set_within(&o->stop_file, session, "stop");
	set_within(&o->echo, session, "output.log");
	set_within(&o->echo_end, session, "output-end");
	set_within(&o->output, stream, "stdout.log");
	set_within(&o->error, stream, "stderr.log");
	set_within(&o->exit_record, stream, "exit.json");
}

static struct options parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"session", required_argument, NULL, 'f'},
		{"stream", required_argument, NULL, 'm'},
		{"stdin", required_argument, NULL, 'i'},
		{"stdout", required_argument, NULL, 'o'},
		{"stderr", required_argument, NULL, 'e'},
		{"exit-record", required_argument, NULL, 'r'},
		{"start-file", required_argument, NULL, 'a'},
		{"stop-file", required_argument, NULL, 's'},
		{"seconds", required_argument, NULL, 'l'},
		{"int-seconds", required_argument, NULL, 'n'},
		{"term-seconds", required_argument, NULL, 't'},
		{"echo", required_argument, NULL, 'c'},
		{"echo-end", required_argument, NULL, 'd'},
		{"echo-hides", required_argument, NULL, 'h'},
		{"ask", required_argument, NULL, 'p'},
		{"ask-status", required_argument, NULL, 'u'},
		{"ask-contains", required_argument, NULL, 'x'},
		{"ask-seconds", required_argument, NULL, 'w'},
		{NULL, 0, NULL, 0},
	};
	struct options o = {.int_ms = 10000, .term_ms = 10000, .ask_status = 200, .ask_ms = 120000};
	const char *session = NULL, *stream = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "+", known, NULL)) != -1) {
		switch (c) {
		case 'f': session = optarg; break;
		case 'm': stream = optarg; break;
		case 'i': o.input = optarg; break;
		case 'o': o.output = optarg; break;
		case 'e': o.error = optarg; break;
		case 'r': o.exit_record = optarg; break;
		case 'a': o.start_file = optarg; break;
		case 's': o.stop_file = optarg; break;
		case 'c': o.echo = optarg; break;
		case 'd': o.echo_end = optarg; break;
		case 'h': o.echo_hides = optarg; break;
		case 'p': o.ask_path = optarg; break;
		case 'u': o.ask_status = number("ask-status", optarg); break;
		case 'x': o.ask_contains = optarg; break;
		case 'w': o.ask_ms = milliseconds("ask-seconds", optarg); break;
		case 'l': o.limit_ms = milliseconds("seconds", optarg); break;
		case 'n': o.int_ms = milliseconds("int-seconds", optarg); break;
		case 't': o.term_ms = milliseconds("term-seconds", optarg); break;
		default: exit(EXIT_SETUP);
		}
	}
	if (optind >= argc) {
		complain("no command given; usage: launcher [OPTIONS] -- COMMAND [ARG...]");
		exit(EXIT_SETUP);
	}
	set_files(&o, session, stream);
	o.command = argv + optind;
	return o;
}

static long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

static int open_input(const char *path)
{
	/* Follows symlinks: files of a mounted ConfigMap are symlinks. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_setup("cannot read", path);
	return fd;
}

static int open_output(const char *path)
{
	struct stat st;
	/* O_NONBLOCK: a FIFO in the file's place must not hang the container. */
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0640);
	if (fd < 0)
		fail_setup("cannot write", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		complain("cannot write %s: not a regular file", path);
		exit(EXIT_SETUP);
	}
	if (fcntl(fd, F_SETFL, O_APPEND))
		fail_setup("cannot write", path);
	return fd;
}

static void redirect(int from, int to)
{
	if (from >= 0 && dup2(from, to) < 0)
		_exit(EXIT_SETUP);
}

/* Starts the command; on failure returns -1 with errno set to what exec said. */
static pid_t start(const struct options *o)
{
	int input = open_input(o->input ? o->input : "/dev/null");
	int output = o->output ? open_output(o->output) : -1;
	int error = o->error ? open_output(o->error) : -1;
	int report[2], problem = 0;
	if (pipe2(report, O_CLOEXEC))
		fail_setup("cannot make", "a pipe");
	pid_t child = fork();
	if (child < 0)
		fail_setup("cannot start", "a process");
	if (child == 0) {
		setsid();
		redirect(input, STDIN_FILENO);
		redirect(output, STDOUT_FILENO);
		redirect(error, STDERR_FILENO);
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(o->command[0], o->command);
		problem = errno;
		if (write(report[1], &problem, sizeof problem) < 0)
			_exit(EXIT_SETUP);
		_exit(EXIT_CANNOT_RUN);
	}
	close(report[1]);
	close(input);
	if (output >= 0)
		close(output);
	if (error >= 0)
		close(error);
	ssize_t length;
	do
		length = read(report[0], &problem, sizeof problem);
	while (length < 0 && errno == EINTR);
	close(report[0]);
	if (length <= 0)
		return child;
	waitpid(child, NULL, 0);
	errno = problem;
	return -1;
}

static void write_record(const char *path, int code, int by_signal, bool stopped)
{
	char temporary[PATH_MAX], text[128], exit_code[16] = "null", signal_number[16] = "null";
	if (!path)
		return;
	if (code >= 0)
		snprintf(exit_code, sizeof exit_code, "%d", code);
	if (by_signal > 0)
		snprintf(signal_number, sizeof signal_number, "%d", by_signal);
	int size = snprintf(text, sizeof text, "{\"exitCode\": %s, \"signal\": %s, \"stopped\": %s}\n",
			    exit_code, signal_number, stopped ? "true" : "false");
	if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
		complain("the name of the exit record is too long");
		return;
	}
	unlink(temporary);
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0 || write(fd, text, (size_t)size) != size || close(fd) || rename(temporary, path))
		complain("cannot write %s: %s", path, strerror(errno));
}

/* Parent of a process by /proc/PID/stat, or -1. The name in it may hold blanks and brackets. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t length = read(fd, text, sizeof text - 1);
	close(fd);
	if (length <= 0)
		return -1;
	text[length] = '\0';
	const char *end = strrchr(text, ')');
	int parent;
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

static void kill_children(void)
{
	DIR *processes = opendir("/proc");
	if (!processes)
		return;
	for (struct dirent *entry; (entry = readdir(processes));)
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
			kill((pid_t)atoi(entry->d_name), SIGKILL);
	closedir(processes);
}

/* Kills what the command left behind. A killed parent's children become ours, hence the loop. */
static void clean_up(pid_t group, const sigset_t *signals)
{
	const struct timespec pause = {.tv_nsec = 20 * 1000000L};
	long limit = now_ms() + REAP_LIMIT_MS;
	for (;;) {
		kill(-group, SIGKILL);
		kill_children();
		pid_t ended;
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended < 0 && errno == ECHILD)
			return;
		if (now_ms() > limit) {
			complain("some processes could not be killed");
			return;
		}
		sigtimedwait(signals, NULL, &pause);
	}
}

/* What is copied to standard output: lines that are read and not written yet. */
struct echo {
	int file;
	bool broken; /* nobody will ever read it */
	size_t length, written, hidden_length;
	char lines[64 * 1024];
	char hidden[4096];
};

static ssize_t read_whole(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t length = read(fd, to, size);
	close(fd);
	return length;
}

/* Learns what must not be shown. A few characters are no secret: they would be anywhere. */
static void learn_hidden(struct echo *e, const char *path)
{
	ssize_t length = path ? read_whole(path, e->hidden, sizeof e->hidden) : 0;
	while (length > 0 && isspace((unsigned char)e->hidden[length - 1]))
		length--;
	e->hidden_length = length >= (ssize_t)HIDDEN_LEAST ? (size_t)length : 0;
}

static void hide(struct echo *e)
{
	char *at = e->lines, *end = e->lines + e->length;
	if (!e->hidden_length)
		return;
	while ((at = memmem(at, (size_t)(end - at), e->hidden, e->hidden_length))) {
		memset(at, '*', e->hidden_length);
		at += e->hidden_length;
	}
}

/* Reads whole lines, so that what is hidden in one is seen whole; false when there are none. */
static bool read_lines(struct echo *e, const char *path)
{
	if (e->file < 0)
		e->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (e->file < 0)
		return false;
	ssize_t length = read(e->file, e->lines, sizeof e->lines);
	if (length <= 0)
		return false;
	size_t whole = (size_t)length;
	while (whole && e->lines[whole - 1] != '\n')
		whole--;
	if (!whole && (size_t)length == sizeof e->lines)
		whole = (size_t)length;
	if (lseek(e->file, (off_t)whole - (off_t)length, SEEK_CUR) < 0)
		return false;
	e->length = whole;
	e->written = 0;
	hide(e);
	return whole > 0;
}

/* Copies what there is and what standard output takes at once. A pipe that is ready takes PIPE_BUF
 * bytes without blocking. */
static void copy(struct echo *e, const char *path)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	while (path && !e->broken) {
		if (e->written == e->length && !read_lines(e, path))
			return;
		if (poll(&out, 1, 0) != 1)
			return;
		e->broken = !(out.revents & POLLOUT) || out.revents & POLLERR;
		if (e->broken)
			return;
		size_t size = e->length - e->written;
		ssize_t wrote = write(STDOUT_FILENO, e->lines + e->written,
				      size < PIPE_BUF ? size : PIPE_BUF);
		if (wrote <= 0) {
			e->broken = errno != EAGAIN && errno != EINTR;
			return;
		}
		e->written += (size_t)wrote;
	}
}

/* Copies what is still to come, once the command has ended. */
static void copy_rest(const struct options *o, struct echo *e, const sigset_t *signals)
{
	const struct timespec pause = {.tv_nsec = ECHO_POLL_MS * 1000000L};
	long limit = now_ms() + ECHO_LIMIT_MS;
	if (!o->echo)
		return;
	while (!e->broken && now_ms() <= limit) {
		bool over = !o->echo_end || access(o->echo_end, F_OK) == 0;
		copy(e, o->echo);
		if (over && e->written == e->length)
			return;
		sigtimedwait(signals, NULL, &pause);
	}
}

/* Waits until the command has ended; returns its wait status. */
static int supervise(const struct options *o, pid_t child, const sigset_t *signals, bool *stopped,
		     bool *late, struct echo *e)
{
	enum stage stage = RUNNING;
	long deadline = LONG_MAX;
	long limit = o->limit_ms ? now_ms() + o->limit_ms : LONG_MAX;
	for (;;) {
		struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
		int got = sigtimedwait(signals, NULL, &pause);
		int status;
		pid_t ended;
		while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
			if (ended == child)
				return status;
		copy(e, o->echo);
		bool asked = got == SIGTERM || got == SIGINT ||
			     (o->stop_file && access(o->stop_file, F_OK) == 0);
		long now = now_ms();
		*late = *late || (stage == RUNNING && !asked && now >= limit);
		if (stage == RUNNING && (asked || *late)) {
			*stopped = true;
			kill(-child, SIGINT);
			stage = INTERRUPTED;
			deadline = now + o->int_ms;
		} else if (stage == INTERRUPTED && now >= deadline) {
			kill(-child, SIGTERM);
			stage = TERMINATED;
			deadline = now + o->term_ms;
		} else if (stage == TERMINATED && now >= deadline) {
			kill(-child, SIGKILL);
			stage = KILLED;
		}
	}
}

/* Ends the launcher when the start file does not come, or somebody ends it before. */
static void await_start(const struct options *o, const sigset_t *signals)
{
	const struct timespec pause = {.tv_nsec = START_POLL_MS * 1000000L};
	long limit = now_ms() + START_LIMIT_MS;
	while (o->start_file && access(o->start_file, F_OK)) {
		int got = sigtimedwait(signals, NULL, &pause);
		if (got == SIGTERM || got == SIGINT) {
			write_record(o->exit_record, -1, got, true);
			exit(128 + got);
		}
		if (now_ms() > limit) {
			complain("%s does not appear: the command is not started", o->start_file);
			exit(EXIT_SETUP);
		}
	}
}

/* Waits until the child has ended, or until then. */
static void await_end(pid_t child, const sigset_t *signals, long limit)
{
	const struct timespec pause = {.tv_nsec = SERVICE_POLL_MS * 1000000L};
	while (now_ms() < limit) {
		pid_t ended;
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			if (ended == child)
				return;
		if (ended < 0)
			return;
		sigtimedwait(signals, NULL, &pause);
	}
}

static void tell(const struct options *o, const struct question *q)
{
	if (*q->seen)
		complain("no answer as asked for in %ld s: %s", o->ask_ms / 1000, q->seen);
	else
		complain("no answer in %ld s: nothing listens on the port in PORT", o->ask_ms / 1000);
}

/* Asks the command for an answer and ends it; returns the exit code. */
static int serve(const struct options *o, struct question *q, pid_t child, const sigset_t *signals)
{
	const struct timespec pause = {.tv_nsec = SERVICE_POLL_MS * 1000000L};
	long limit = now_ms() + o->ask_ms;
	for (;;) {
		int got = sigtimedwait(signals, NULL, &pause);
		long now = now_ms();
		bool answered = ask(q, now);
		int status;
		pid_t ended;
		while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
			if (ended != child)
				continue;
			/* What still answers for it is no service that anybody could use. */
			clean_up(child, signals);
			if (WIFSIGNALED(status))
				complain("the command was ended by signal %d before it answered",
					 WTERMSIG(status));
			else
				complain("the command ended with %d before it answered",
					 WEXITSTATUS(status));
			bool missing = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND;
			return missing ? EXIT_NOT_FOUND : EXIT_NO_ANSWER;
		}
		bool stopped = got == SIGTERM || got == SIGINT;
		bool late = now >= limit;
		if (!answered && !stopped && !late)
			continue;
		long left = answered && limit - now < SERVICE_END_MS ? limit - now : SERVICE_END_MS;
		if (answered || stopped) {
			kill(-child, SIGTERM);
			await_end(child, signals, now + left);
		}
		clean_up(child, signals);
		if (answered)
			return 0;
		if (stopped)
			return 128 + got;
		tell(o, q);
		return EXIT_NO_ANSWER;
	}
}

/* Chooses the port that the command is told. */
static void prepare(const struct options *o, struct question *q)
{
	char port[8];
	q->connection = -1;
	q->path = o->ask_path;
	q->contains = o->ask_contains;
	q->status = (int)o->ask_status;
	q->port = choose_port();
	if (q->port < 0) {
		complain("no port is free");
		exit(EXIT_SETUP);
	}
	snprintf(port, sizeof port, "%d", q->port);
	if (setenv("PORT", port, 1))
		fail_setup("cannot set", "PORT");
}

/* Whoever started us may ignore signals, and who is executed inherits that: a command that ignores
 * SIGINT would not hear its soft stop, and we would lose its exit if we ignored SIGCHLD. */
static void ignore_nothing(void)
{
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
}

int main(int argc, char **argv)
{
	static struct echo echo = {.file = -1};
	static struct question question;
	struct options o = parse(argc, argv);
	sigset_t signals;
	ignore_nothing();
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGPIPE); /* nobody may read what is echoed */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		fail_setup("cannot become", "sub-reaper");
	/* Its own user's processes may neither trace it nor write its memory; exec ends that for the
	 * command. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		fail_setup("cannot become", "untraceable");

	learn_hidden(&echo, o.echo_hides);
	await_start(&o, &signals);
	if (o.ask_path)
		prepare(&o, &question);
	pid_t child = start(&o);
	if (child < 0) {
		int code = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
		complain("cannot start %s: %s", o.command[0], strerror(errno));
		write_record(o.exit_record, code, -1, false);
		return code;
	}
	if (o.ask_path)
		return serve(&o, &question, child, &signals);
	bool stopped = false, late = false;
	int status = supervise(&o, child, &signals, &stopped, &late, &echo);
	clean_up(child, &signals);
	bool killed = WIFSIGNALED(status);
	if (killed)
		write_record(o.exit_record, -1, WTERMSIG(status), stopped);
	else
		write_record(o.exit_record, WEXITSTATUS(status), -1, stopped);
	copy_rest(&o, &echo, &signals);
	if (late) {
		complain("not done after %ld s", o.limit_ms / 1000);
		return EXIT_LATE;
	}
	return killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
