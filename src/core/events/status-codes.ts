// The OpenGTS status codes that Fleetward uses, each with its text and its class in the outbox. Values: OpenGTS 2.6.5 `StatusCodes`; 4352 to 4402 are
// our own (the free range of OpenGTS is 4096 to 53247). `enginecutoff` 1 means that the cut-off is enabled, so the engine is DISabled: 63680.

/**
 * Class of an event in the outbox: 0 panic, cut, tamper (dropped only after all others, committed alone); 1 alarms; 2 state changes; 3 positions and
 * heartbeats (may wait for a batch, thinned first).
 */
export type Priority = 0 | 1 | 2 | 3;

interface StatusKind {
  readonly code: number;
  readonly text: string;
  readonly priority: Priority;
}

export const statusCodes = {
  INITIALIZED: { code: 61456, text: 'Initialized', priority: 2 },
  LOCATION: { code: 61472, text: 'Location', priority: 3 },
  LAST_LOCATION: { code: 61477, text: 'Last_Location', priority: 3 },
  QUERY: { code: 61504, text: 'Query', priority: 2 },
  HEARTBEAT: { code: 61536, text: 'Heartbeat', priority: 3 },
  GPS_FIRST_FIX: { code: 61546, text: 'GPS_First_Fix', priority: 2 },
  MOTION_START: { code: 61713, text: 'Start', priority: 2 },
  MOTION_EN_ROUTE: { code: 61714, text: 'EnRoute', priority: 3 },
  MOTION_STOP: { code: 61715, text: 'Stop', priority: 2 },
  MOTION_DORMANT: { code: 61716, text: 'Dormant', priority: 3 },
  MOTION_IDLE: { code: 61718, text: 'Idle', priority: 2 },
  MOTION_IDLE_END: { code: 61719, text: 'Idle_End', priority: 2 },
  MOTION_EXCESS_IDLE: { code: 61720, text: 'Excess_Idle', priority: 1 },
  SPEEDING_BEGIN: { code: 61792, text: 'Speeding_Begin', priority: 1 },
  SPEEDING_END: { code: 61807, text: 'Speeding_End', priority: 2 },
  GEOFENCE_ARRIVE: { code: 61968, text: 'Arrive', priority: 1 },
  CORRIDOR_ARRIVE: { code: 61971, text: 'Corridor_Arrive', priority: 1 },
  GEOFENCE_DEPART: { code: 62000, text: 'Depart', priority: 1 },
  CORRIDOR_DEPART: { code: 62003, text: 'Corridor_Depart', priority: 1 },
  IGNITION_ON: { code: 62465, text: 'Ignition_On', priority: 2 },
  IGNITION_OFF: { code: 62467, text: 'Ignition_Off', priority: 2 },
  ENGINE_START: { code: 62476, text: 'Engine_Start', priority: 2 },
  ENGINE_STOP: { code: 62477, text: 'Engine_Stop', priority: 2 },
  DOOR_OPEN_CABIN: { code: 62672, text: 'DoorOpen_0', priority: 2 },
  DOOR_OPEN_CARGO: { code: 62673, text: 'DoorOpen_1', priority: 1 },
  DOOR_CLOSE_CABIN: { code: 62688, text: 'DoorClose_0', priority: 2 },
  DOOR_CLOSE_CARGO: { code: 62689, text: 'DoorClose_1', priority: 2 },
  PERSON_ENTER: { code: 63532, text: 'Person_Embark', priority: 2 },
  PERSON_EXIT: { code: 63533, text: 'Person_Disembark', priority: 2 },
  PERSON_INVENTORY: { code: 63534, text: 'Person_Inventory', priority: 2 },
  COMMAND_ACK: { code: 63539, text: 'Command_Ack', priority: 0 },
  PANIC_ON: { code: 63553, text: 'Panic', priority: 0 },
  PANIC_OFF: { code: 63554, text: 'Panic_Off', priority: 0 },
  TOWING_START: { code: 63601, text: 'Tow', priority: 1 },
  TOWING_STOP: { code: 63602, text: 'Tow_Stop', priority: 2 },
  TAMPER_ON: { code: 63621, text: 'Tamper', priority: 0 },
  TAMPER_OFF: { code: 63622, text: 'Tamper_Off', priority: 0 },
  BREACH_ON: { code: 63625, text: 'Breach', priority: 1 },
  BREACH_OFF: { code: 63626, text: 'Breach_Off', priority: 2 },
  DOOR_LOCK: { code: 63637, text: 'Door_Lock', priority: 0 },
  DOOR_UNLOCK: { code: 63638, text: 'Door_Unlock', priority: 0 },
  ONLINE: { code: 63645, text: 'Online', priority: 3 },
  OFFLINE: { code: 63646, text: 'Offline', priority: 3 },
  VEHICLE_DISABLED: { code: 63680, text: 'Vehicle_Disable', priority: 0 },
  VEHICLE_ENABLED: { code: 63681, text: 'Vehicle_Enable', priority: 0 },
  IMPACT: { code: 63809, text: 'Impact', priority: 0 },
  FUEL_REFILL: { code: 63825, text: 'Fuel_Refill', priority: 1 },
  FUEL_THEFT: { code: 63826, text: 'Fuel_Drop', priority: 1 },
  LOW_FUEL: { code: 63828, text: 'Fuel_Low', priority: 1 },
  FUEL_SENSOR: { code: 63838, text: 'Fuel_Sensor', priority: 2 },
  FUEL_SENSOR_OK: { code: 63839, text: 'Fuel_Sensor_OK', priority: 2 },
  LOW_BATTERY: { code: 64784, text: 'Low_Battery', priority: 1 },
  BATTERY_RESTORED: { code: 64786, text: 'Battery_OK', priority: 2 },
  POWER_FAILURE: { code: 64787, text: 'Power_Disconnect', priority: 0 },
  POWER_RESTORED: { code: 64789, text: 'Power_Connect', priority: 1 },
  GPS_ANTENNA_OPEN: { code: 64803, text: 'GPS_AntOpen', priority: 1 },
  GPS_JAMMING: { code: 64805, text: 'GPS_Jamming', priority: 1 },
  GPS_RESTORED: { code: 64806, text: 'GPS_Restored', priority: 2 },
  GPS_LOST: { code: 64807, text: 'GPS_Lost', priority: 1 },
  DIAGNOSTIC: { code: 64816, text: 'Diagnostic', priority: 2 },
  CONNECTION_LOST: { code: 64817, text: 'Connect_Lost', priority: 2 },
  CONNECTION_RESTORED: { code: 64818, text: 'Connect_Restore', priority: 2 },
  INTERNAL_FAILURE: { code: 64821, text: 'Intern_Failure', priority: 1 },
  MODEM_JAMMING: { code: 64825, text: 'Modem_Jamming', priority: 1 },
  CONFIG_RESET: { code: 64833, text: 'Config_Reset', priority: 2 },
  CONFIG_START: { code: 64834, text: 'Config_Start', priority: 2 },
  CONFIG_COMPLETE: { code: 64835, text: 'Config_Complete', priority: 2 },
  CONFIG_FAILED: { code: 64836, text: 'Config_Failed', priority: 2 },
  SHUTDOWN: { code: 64837, text: 'Shutdown', priority: 2 },
  COMMAND_REQUESTED: { code: 4352, text: 'Command_Requested', priority: 0 },
  COMMAND_WAITING: { code: 4353, text: 'Command_Waiting', priority: 0 },
  COMMAND_REFUSED: { code: 4354, text: 'Command_Refused', priority: 0 },
  COMMAND_EXPIRED: { code: 4355, text: 'Command_Expired', priority: 0 },
  COMMAND_EXECUTING: { code: 4356, text: 'Command_Executing', priority: 0 },
  COMMAND_SUPERSEDED: { code: 4357, text: 'Command_Superseded', priority: 0 },
  COMMAND_CANCELLED: { code: 4358, text: 'Command_Cancelled', priority: 0 },
  COMMAND_UNKNOWN: { code: 4359, text: 'Command_Unknown', priority: 0 },
  RELAY_MISMATCH: { code: 4360, text: 'Relay_Mismatch', priority: 0 },
  RELAY_FAULT: { code: 4361, text: 'Relay_Fault', priority: 0 },
  RELAY_RESTORED: { code: 4362, text: 'Relay_Restored', priority: 0 },
  SERVICE_CODE_RIGHT: { code: 4363, text: 'Service_Code_Right', priority: 0 },
  SERVICE_CODE_WRONG: { code: 4364, text: 'Service_Code_Wrong', priority: 0 },
  GUARD_REFUSED: { code: 4365, text: 'Guard_Refused', priority: 0 },
  BOARD_LOST: { code: 4368, text: 'Board_Lost', priority: 1 },
  BOARD_RESTORED: { code: 4369, text: 'Board_Restored', priority: 2 },
  POSITION_SUSPECT: { code: 4370, text: 'Position_Suspect', priority: 1 },
  POSITION_TRUSTED: { code: 4371, text: 'Position_Trusted', priority: 2 },
  EVENTS_DROPPED: { code: 4376, text: 'Events_Dropped', priority: 1 },
  STORAGE_REPLACED: { code: 4377, text: 'Storage_Replaced', priority: 1 },
  DATA_BUDGET: { code: 4378, text: 'Data_Budget', priority: 1 },
  MESSAGE: { code: 4392, text: 'Message', priority: 1 },
  MESSAGE_RECEIVED: { code: 4393, text: 'Message_Received', priority: 2 },
  DRIVER_IDENTIFIED: { code: 4400, text: 'Driver_Identified', priority: 2 },
  DRIVER_CLEARED: { code: 4401, text: 'Driver_Cleared', priority: 2 },
  DRIVER_UNKNOWN: { code: 4402, text: 'Driver_Unknown', priority: 1 },
  FUEL_LEVEL: { code: 4384, text: 'Fuel_Level', priority: 3 },
} as const satisfies Record<string, StatusKind>;

export type StatusName = keyof typeof statusCodes;

const byCode: ReadonlyMap<number, StatusKind> = new Map(
  Object.values(statusCodes).map((kind) => [kind.code, kind]),
);

/** Short text of a status code; `Status_0xNNNN` for an unknown one (never an error). */
export function statusText(code: number): string {
  return byCode.get(code)?.text ?? `Status_0x${code.toString(16).toUpperCase()}`;
}

/** Outbox class of a status code; unknown codes count as state changes. */
export function statusPriority(code: number): Priority {
  return byCode.get(code)?.priority ?? 2;
}
