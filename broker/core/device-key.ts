// The key of a device. Types only.

/** Key of a device in the API and in MQTT topics. */
export interface DeviceKey {
  readonly accountID: string;
  readonly deviceID: string;
}

/** An authenticated device: its key and its number. */
export interface DeviceRef extends DeviceKey {
  readonly deviceNo: number;
}
