// The signals that end a run early, and the exit code that each stands for: 128 and its number, as shells do. Data only.

export const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
export type StopSignal = keyof typeof signalExitCodes;
export const stopSignals = Object.keys(signalExitCodes) as readonly StopSignal[];
