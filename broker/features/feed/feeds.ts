// How far the feeds of an account are, for its administrators. The operator of the service sets them up.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { feedFormats } from '../../ports/feed-targets.ts';
import { findFeed } from './feed-statements.ts';
import { feeders, feedStates } from './feeder.ts';

const text = (description: string) => Type.String({ description });
const integer = (description: string) => Type.Integer({ minimum: 0, description });

const listFeeds = operation({
  id: 'getFeeds',
  method: 'GET',
  path: '/feed/getfeeds/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Live',
  summary: 'Feeds of events into MQTT brokers',
  description: `What the operator of the service has set up for this account (setting \`feeds\`), and how far each has come. Every event
is published with QoS 1, in the order in which the service stored them, until the target acknowledges it. After a crash some come again, at
most 200, in the same order: \`eventNo\` grows within a feed, \`eventID\` names an event. Nothing is ever read from the target.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    feeds: Type.Array(
      Type.Object({
        feedID: text('The feed'),
        format: Type.Enum([...feedFormats], { description: 'What it publishes' }),
        host: text('Host and port of its target'),
        state: Type.Enum([...feedStates], {
          description:
            '`retrying`: the target cannot be reached or does not acknowledge; `elsewhere`: another broker of the service feeds; `closed`: the account is',
        }),
        fault: text('Why it is retrying; empty otherwise'),
        sentUpTo: integer(
          'Events that the service received up to then were acknowledged (epoch seconds); 0: it has not begun',
        ),
        lost: integer('Events, at most, that were removed by age before they could be published'),
      }),
    ),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      feeds: [
        {
          feedID: 'home',
          format: 'homeassistant',
          host: 'mqtt.example.com:8883',
          state: 'connected',
          fault: '',
          sentUpTo: 1763683200,
          lost: 0,
        },
      ],
    },
  },
  async run({ caller }, services) {
    const nowS = Math.floor(services.clock.utcMs() / 1000);
    const own = services
      .of(feeders)
      .list.map((one) => one.standing())
      .filter(({ target }) => target.accountID === caller.accountID);
    const feeds = await Promise.all(
      own.map(async ({ target, state, fault }) => {
        const { feedID, format, host } = target;
        const row = await findFeed(services.db, target, nowS);
        const sentUpTo = row === null ? 0 : epochSeconds(row.sentMs);
        return { feedID, format, host, state, fault, sentUpTo, lost: row?.lost ?? 0 };
      }),
    );
    return { ...ok, feeds };
  },
});

export const feedOperations = [listFeeds] as const;
