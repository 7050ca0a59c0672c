// Plain JSON, for Node-RED, Telegraf and programs of one's own: `<prefix>/<account>/<device>/event`, and `.../state`, which is retained.
import {
  eventRecord,
  type FeedFormat,
  type FeedPlace,
  type Publication,
  stateRecord,
  topicLevel,
} from './feed-format.ts';

const retained = (topic: string, payload: string): Publication => ({ topic, payload, isRetained: true });

/** Topics of a feed. */
export function topicsOf({ prefix, accountID }: FeedPlace) {
  const root = `${prefix}/${topicLevel(accountID)}`;
  const of = (deviceID: string, what: 'event' | 'state'): string => `${root}/${topicLevel(deviceID)}/${what}`;
  return {
    status: `${root}/status`,
    event: (id: string) => of(id, 'event'),
    state: (id: string) => of(id, 'state'),
  };
}

export function jsonFormat(place: FeedPlace): FeedFormat {
  const topics = topicsOf(place);
  return {
    online: retained(topics.status, 'online'),
    offline: retained(topics.status, 'offline'),
    event: (event) => ({
      topic: topics.event(event.deviceID),
      payload: JSON.stringify(eventRecord(event)),
      isRetained: false,
    }),
    config: () => null,
    state: (device) => [retained(topics.state(device.deviceID), JSON.stringify(stateRecord(device)))],
    removed: (deviceID) => [retained(topics.state(deviceID), '')],
  };
}
