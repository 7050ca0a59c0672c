"""A real SMTP server (aiosmtpd) on a free loopback port. Prints the port, then one JSON line for each mail it accepted.

Mailboxes that begin with "unknown" are refused for good (550), those that begin with "busy" for now (450).
"""

import asyncio
import json

from aiosmtpd.smtp import SMTP


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


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Mailbox(), hostname="localhost"), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
