package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const limit, limitToStart = 15 * time.Second, 20 * time.Second

const getIt = "Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci."

// farthing has the key that may make accounts.
//
// FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the hosts of your
// service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program farthing, or the
// one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host of the tests as
// Farthing reaches it, if that is not 127.0.0.1.
var farthing = client{os.Getenv("FARTHING_URL"), os.Getenv("FARTHING_API_KEY")}

var host = or(os.Getenv("FARTHING_RECEIVER_HOST"), "127.0.0.1")

func or(value, initial string) string {
	if value == "" {
		return initial
	}
	return value
}

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.testlogfile").Value.String() != "" {
		fmt.Println("run it with -count=1: without it Go may show an earlier result, also when Farthing is gone")
		os.Exit(1)
	}
	stop := func() {}
	if farthing.url == "" {
		var err error
		if stop, err = start(); err != nil {
			fmt.Println("Farthing did not start:", err)
			os.Exit(1)
		}
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

func start() (stop func(), err error) {
	farthing.key = fmt.Sprintf("key-of-these-tests-%d", os.Getpid())
	hosts := "localhost,127.0.0.1," + host // Over http, with any port.
	program := exec.Command(or(os.Getenv("FARTHING"), "farthing"))
	program.Env = append(os.Environ(), "PORT=0", "HOST=127.0.0.1", "DATABASE_URL=sqlite::memory:", "LOG_LEVEL=warn",
		"FARTHING_API_KEY="+farthing.key, "FARTHING_CONTROL=true", "FARTHING_CALLBACK_HOSTS="+hosts, "FARTHING_RETURN_HOSTS="+hosts)
	program.Stderr = os.Stderr
	output, err := program.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := program.Start(); err != nil {
		return nil, fmt.Errorf("%w. %s", err, getIt)
	}
	late := time.AfterFunc(limitToStart, func() { _ = program.Process.Kill() })
	first, _ := bufio.NewReader(output).ReadString('\n') // Farthing is listening on http://127.0.0.1:41231
	late.Stop()
	stop = func() {
		_ = program.Process.Signal(os.Interrupt)
		_ = program.Wait()
	}
	_, url, found := strings.Cut(strings.TrimSpace(first), " is listening on ")
	if !found {
		stop()
		return nil, fmt.Errorf("its first line is %q", first)
	}
	farthing.url = url
	return stop, nil
}
