package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
)

var item = `(t=(0|[1-9][0-9]{0,14})|v1=[0-9a-f]{32}[0-9a-f]{32}|([^=, ]{3,}|[^=, t]|[^=, v][^=, ]|v[^=, 1])=[^, ]*)`
var form = regexp.MustCompile("^" + item + "(, *" + item + "){0,31}$") // items of later schemes are named neither t nor v1
var times, entries = regexp.MustCompile("(?:^|[, ])t=([^,]*)"), regexp.MustCompile("(?:^|[, ])v1=([^,]*)")

// VerifySignature reports whether a raw body was signed with one of the secrets, at most tolerance seconds from now.
func VerifySignature(header string, rawBody []byte, secrets []string, now, tolerance int64) (matched bool) {
	t, v1 := times.FindAllStringSubmatch(header, -1), entries.FindAllStringSubmatch(header, -1)
	if len(header) > 4096 || len(t) != 1 || !form.MatchString(header) {
		return false
	}
	seconds, _ := strconv.ParseInt(t[0][1], 10, 64)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", seconds, rawBody)
		for _, one := range v1 {
			matched = hmac.Equal([]byte(one[1]), []byte(fmt.Sprintf("%x", mac.Sum(nil)))) && secret != "" || matched
		}
	}
	return matched && now-seconds <= tolerance && seconds-now <= tolerance
}
