package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// VerifySignature reports whether body was signed with one of the secrets, within tolerance of now.
func VerifySignature(header string, body []byte, secrets []string, now time.Time, tolerance time.Duration) bool {
	// 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
	items := strings.Split(header, ",")
	if len(header) > 4096 || len(items) > 32 {
		return false
	}
	var times []string
	var signatures [][]byte
	for i, item := range items {
		if i > 0 {
			item = strings.TrimLeft(item, " ")
		}
		name, value, found := strings.Cut(item, "=")
		if !found || name == "" || strings.Contains(item, " ") {
			return false
		}
		switch name {
		case "t":
			times = append(times, value)
		case "v1":
			signature, err := hex.DecodeString(value)
			if err != nil || len(signature) != sha256.Size || strings.ToLower(value) != value {
				return false
			}
			signatures = append(signatures, signature)
		}
	}
	if len(times) != 1 || len(times[0]) > 15 {
		return false
	}

	// 2. Refuse what is older than the tolerance, or further ahead. A time has no sign and no leading zeros.
	seconds, err := strconv.ParseInt(times[0], 10, 64)
	if err != nil || seconds < 0 || strconv.FormatInt(seconds, 10) != times[0] {
		return false
	}
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}

	// 3. Sign the same bytes with each secret: the time, a dot, the raw body.
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(times[0] + "."))
		mac.Write(body)
		expected := mac.Sum(nil)

		// 4. Compare in constant time; one match is enough.
		for _, signature := range signatures {
			if secret != "" && hmac.Equal(signature, expected) {
				return true
			}
		}
	}
	return false
}
