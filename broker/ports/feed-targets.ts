// Brokers of others that the events of an account are fed into, as the operator has set them.
import type { MqttLink, MqttLinkHandlers, MqttMessage } from '../../src/ports.ts';

export const feedFormats = ['json', 'homeassistant', 'thingsboard'] as const;
export type FeedFormatName = (typeof feedFormats)[number];

export interface FeedTarget {
  /** Name of its file; unique. */
  readonly feedID: string;
  readonly accountID: string;
  readonly format: FeedFormatName;
  /** First levels of its topics. */
  readonly prefix: string;
  /** First levels of the topics that Home Assistant discovers devices by. */
  readonly discoveryPrefix: string;
  /** True: its first start begins with the oldest stored event, else with the next one. */
  readonly history: boolean;
  readonly eventsPerS: number;
  /** Host and port, to show: the rest of the URL may hold a secret. */
  readonly host: string;
  /** One connection, as `OpenMqttLink`. @param will null: none. */
  open(clientID: string, will: MqttMessage | null, handlers: MqttLinkHandlers): MqttLink;
}
