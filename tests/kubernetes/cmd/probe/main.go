// Command probe is what the tests of the cluster itself run inside pods. It is static, so that an
// image of it needs nothing else.
//
//	probe serve ADDRESS TEXT    answer every HTTP request with TEXT
//	probe get URL SECONDS       print the first answer of status 200 within SECONDS
//	probe wait SECONDS          on SIGTERM say when it came, work for SECONDS, say when it ended
//	probe run SECONDS           work for SECONDS and say when it ended
//
// What wait and run say goes to the termination message, one JSON object.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const terminationLog = "/dev/termination-log"

type message struct {
	Signalled int64 `json:"signalled,omitempty"` // nanoseconds since 1970
	Ended     int64 `json:"ended"`
}

func main() {
	if len(os.Args) < 3 {
		end(fmt.Errorf("usage: probe serve|get|wait|run ARGUMENTS"))
	}
	arguments := append(os.Args[2:], "", "")
	switch os.Args[1] {
	case "serve":
		end(serve(arguments[0], arguments[1]))
	case "get":
		end(get(arguments[0], seconds(arguments[1])))
	case "wait":
		end(wait(seconds(arguments[0])))
	case "run":
		time.Sleep(seconds(arguments[0]))
		end(report(message{Ended: time.Now().UnixNano()}))
	default:
		end(fmt.Errorf("unknown command %s", os.Args[1]))
	}
}

func serve(address, text string) error {
	return http.ListenAndServe(address, http.HandlerFunc(
		func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprint(answer, text) }))
}

func get(url string, limit time.Duration) error {
	client := http.Client{Timeout: 2 * time.Second}
	deadline := time.Now().Add(limit)
	for {
		text, err := fetch(&client, url)
		if err == nil {
			fmt.Print(text)
			return nil
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func fetch(client *http.Client, url string) (string, error) {
	answer, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %s", answer.Status)
	}
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func wait(work time.Duration) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	signalled := time.Now().UnixNano()
	time.Sleep(work)
	return report(message{Signalled: signalled, Ended: time.Now().UnixNano()})
}

func report(said message) error {
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	return os.WriteFile(terminationLog, text, 0o644)
}

func seconds(text string) time.Duration {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		end(err)
	}
	return time.Duration(value * float64(time.Second))
}

// end ends the process: with 0 when there is no error.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
