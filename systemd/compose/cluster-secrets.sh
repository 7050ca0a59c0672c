#!/bin/sh
# Makes the folder `secrets` beside cluster.yaml: an authority, certificates, passwords, and what RabbitMQ has to know of them.
# Each file belongs to the user of the container that reads it: 999 (RabbitMQ, PostgreSQL), 10001 (Fleetward). Nothing is overwritten.
# Usage: sudo ./cluster-secrets.sh HOST [DIR]    HOST: the name that vehicles connect to; DIR: instead of `secrets` beside this file
set -eu

[ $# -ge 1 ] && [ $# -le 2 ] || { echo "usage: $0 HOST [DIR]" >&2; exit 64; }
host=$1
case $host in *[!A-Za-z0-9.-]* | '') echo "$host is no name of a host" >&2; exit 64 ;; esac
folder=${2:-$(dirname "$0")/secrets}
[ "$(id -u)" = 0 ] || { echo "run it as root: the files belong to the users of the containers" >&2; exit 77; }
mkdir -m 0711 "$folder" || { echo "$folder is there: these secrets are in use" >&2; exit 73; }
cd "$folder"
umask 077
days=3650

own() { # USER FILE...
	user=$1
	shift
	chown "$user:$user" "$@"
	chmod 0400 "$@"
}
word() { openssl rand -hex 24; }

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days $days -subj "/CN=Fleetward cluster" \
	-keyout ca-key.pem -out ca.pem 2>/dev/null
issue() { # NAME USER SUBJECT HOST...
	name=$1 user=$2 subject=$3
	shift 3
	names=$(printf ',DNS:%s' "$@")
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$subject" -keyout "$name-key.pem" \
		-out request.pem 2>/dev/null
	printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "${names#,}" >extensions
	openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -set_serial "0x$(openssl rand -hex 16)" \
		-days $days -extfile extensions -out "$name.pem" 2>/dev/null
	rm request.pem extensions
	own "$user" "$name.pem" "$name-key.pem"
}
issue node 999 "$host" mq1 mq2 mq3 "$host"
issue bridge 10001 fleetward-bridge bridge1 bridge2 balancer
issue db 999 db db
chmod 0444 ca.pem

for name in db-password bridge-password management-password auth-word erlang-cookie; do word >"$name"; done
# The cookie is the whole file.
printf %s "$(cat erlang-cookie)" >erlang-cookie
echo "db:5432:fleetward:fleetward:$(cat db-password)" >pgpass

# As RabbitMQ keeps a password: base64 of 4 random bytes and SHA-256 over these and the password.
hash() { # FILE
	openssl rand 4 >salt
	{ cat salt && printf %s "$(cat "$1")"; } | openssl dgst -sha256 -binary | cat salt - | openssl base64 -A
	rm salt
}
own_queues='^fleetward\\.' topics='^(fleetward\\.|amq\\.topic$)'
cat >definitions.json <<END
{
  "vhosts": [{ "name": "fleet" }],
  "users": [
    { "name": "fleetward-bridge", "password_hash": "$(hash bridge-password)", "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": [] },
    { "name": "fleetward-management", "password_hash": "$(hash management-password)", "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": ["administrator"] }
  ],
  "permissions": [
    { "user": "fleetward-bridge", "vhost": "fleet", "configure": "$own_queues", "write": "$topics", "read": "$topics" }
  ]
}
END
secret=$(cat auth-word)
cat >rabbitmq.conf <<END
# What differs from rabbitmq.conf of the runbook in these containers.
load_definitions = /etc/rabbitmq/definitions.json
auth_http.user_path = https://balancer:8083/auth/$secret/user
auth_http.vhost_path = https://balancer:8083/auth/$secret/vhost
auth_http.resource_path = https://balancer:8083/auth/$secret/resource
auth_http.topic_path = https://balancer:8083/auth/$secret/topic
auth_http.ssl_options.cacertfile = /etc/rabbitmq/tls/ca.pem
auth_http.ssl_options.verify = verify_peer
log.console = true
log.file = false
END
own 999 db-password erlang-cookie definitions.json rabbitmq.conf
own 10001 pgpass bridge-password management-password auth-word
echo "$folder"
