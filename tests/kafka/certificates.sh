#!/usr/bin/env bash
# Certificates for the tests, created again on each call: certificates.sh DIR
#
# ca.pem signs server.pem, client.pem (both key and certificate) and the like; other-ca.pem signs
# stranger.pem. The server is known as localhost and 127.0.0.1, elsewhere.pem as another host.
# expired.pem and expired-client.pem are expired.
set -euo pipefail
mkdir -p "$1"
cd "$1"

authority() { # name
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"
}

signed() { # name authority alternative-names days
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$4" \
    -out "$1.crt" -extfile <(echo "subjectAltName=$3")
  cat "$1.key" "$1.crt" >"$1.pem"
}

{
  authority ca
  authority other-ca
  signed server ca DNS:localhost,IP:127.0.0.1 3
  signed elsewhere ca DNS:elsewhere.example 3
  signed expired ca DNS:localhost,IP:127.0.0.1 -1
  signed client ca DNS:client 3
  signed stranger other-ca DNS:stranger 3
  signed expired-client ca DNS:client -1
  # A key encrypted with a password.
  openssl pkcs8 -topk8 -in client.key -passout pass:key-pw -out client-protected.key
} >openssl.log 2>&1 || { cat openssl.log >&2; exit 1; }
