// The address of a RabbitMQ cluster in one setting: `amqps://user@host:port,host:port/vhost`. Pure. It must not contain a
// password: command lines are readable by every user of the machine.

export interface ClusterHost {
  readonly host: string;
  readonly port: number;
}

export interface ClusterAddress {
  /** False: AMQP without TLS. */
  readonly isTls: boolean;
  readonly user: string;
  /** In the order given; at least one. */
  readonly hosts: readonly ClusterHost[];
  readonly vhost: string;
}

type ParsedCluster =
  | { readonly ok: true; readonly address: ClusterAddress }
  | { readonly ok: false; readonly reason: string };

/** Nodes of one cluster; RabbitMQ advises 3, 5 or 7. */
const hostsMost = 16;
const defaultPorts = { amqp: 5672, amqps: 5671 } as const;
const urlPattern = /^(amqps?):\/\/([^@/]*)@([^@/]+)\/([^/?#]*)$/;
const hostPattern = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(?::([0-9]{1,5}))?$/;
const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

const refuse = (reason: string): ParsedCluster => ({ ok: false, reason });

function parseHost(text: string, standardPort: number): ClusterHost | null {
  const [, host, digits] = hostPattern.exec(text) ?? [];
  const port = digits === undefined ? standardPort : Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/** Reads `amqp(s)://user@host[:port][,host[:port]…]/vhost`; `reason` never repeats what was given. */
export function parseClusterUrl(text: string): ParsedCluster {
  const [, scheme, user = '', list = '', vhost = ''] = urlPattern.exec(text) ?? [];
  if (scheme !== 'amqp' && scheme !== 'amqps')
    return refuse('it is not amqps://user@host:port,host:port/vhost');
  if (user.includes(':')) return refuse('it holds a password, which belongs into a file');
  if (!namePattern.test(user)) return refuse('the user is not 1 to 64 of A-Z a-z 0-9 . _ -');
  if (!namePattern.test(vhost)) return refuse('the virtual host is not 1 to 64 of A-Z a-z 0-9 . _ -');
  const hosts = list.split(',').map((one) => parseHost(one, defaultPorts[scheme]));
  if (hosts.length > hostsMost) return refuse(`it names more than ${hostsMost} hosts`);
  const known = hosts.filter((host) => host !== null);
  if (known.length < hosts.length) return refuse('a host or port in it is not one');
  return { ok: true, address: { isTls: scheme === 'amqps', user, hosts: known, vhost } };
}
