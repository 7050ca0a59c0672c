"""A real SMTP server (aiosmtpd) on a free loopback port. Prints the port, then one JSON line for each mail it accepted.

Mailboxes that begin with "unknown" are refused for good (550), those that begin with "busy" for now (450). With the
arguments certificate, key, user and password it insists on STARTTLS and on that login.
"""

import asyncio
import json
import logging
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Mailbox:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address.startswith("unknown"):
            return "550 5.1.1 no such mailbox"
        if address.startswith("busy"):
            return "450 4.2.1 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "content": envelope.content.decode("utf-8", "replace"),
        }
        print(json.dumps(mail), flush=True)
        return "250 OK"


def options(certificate, key, user, password):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def authenticate(server, session, envelope, mechanism, login):
        is_known = (login.login, login.password) == (user.encode(), password.encode())
        return AuthResult(success=is_known, handled=False)

    return {
        "tls_context": context,
        "require_starttls": True,
        "auth_required": True,
        "authenticator": authenticate,
    }


async def main():
    loop = asyncio.get_running_loop()
    strict = options(*sys.argv[1:]) if len(sys.argv) > 1 else {}
    server = await loop.create_server(
        lambda: SMTP(Mailbox(), hostname="localhost", **strict), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# Clients that hang up are what the tests are about.
logging.disable(logging.CRITICAL)
asyncio.run(main())
