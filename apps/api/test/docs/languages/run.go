package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"languages/webhooks"
)

func decode(text string) []byte {
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		header := ""
		if fields[0] != "-" {
			header = string(decode(fields[0]))
		}
		var secrets []string
		if fields[2] != "-" {
			for _, secret := range strings.Split(fields[2], ",") {
				secrets = append(secrets, string(decode(secret)))
			}
		}
		now, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			panic(err)
		}
		if webhooks.VerifySignature(header, decode(fields[1]), secrets, time.Unix(now, 0), 5*time.Minute) {
			fmt.Println("accepted")
		} else {
			fmt.Println("refused")
		}
	}
}
