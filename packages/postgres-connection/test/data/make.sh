#!/bin/sh
# Makes the certificates of these tests anew: two authorities, a server called localhost, and the client of the role `certified`.
set -e
cd "$(dirname "$0")"
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj "/CN=$1" -keyout "$1.key" -out "$1.crt"
}
issue() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  echo "subjectAltName=DNS:$1" | openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -days 36500 -extfile /dev/stdin -out "$1.crt"
}
authority authority
authority stranger
issue localhost
issue certified
rm ./*.csr ./*.srl authority.key stranger.key
