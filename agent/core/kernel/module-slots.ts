// Members that modules add to the kernel's types, by declaration merging. Each module declares its members in its own file, so
// deleting its folder deletes them too. The kernel itself reads none of them. Types only.

/** Slices of the vehicle's state. */
export interface ModuleStates {}

/** Members of the memory that survives restarts. */
export interface ModuleMemory {}

/** Rows of the outbox, by their key: for what is too large for the memory. */
export interface ModuleRows {}

/** Tables of agent.toml, as vehicle and process take them. */
export interface ModuleConfig {}

/** Events by their kind. */
export interface ModuleEvents {}

/** Effects by their kind. */
export interface ModuleEffects {}

/** Members of the vehicle's part of the status document. */
export interface ModuleStatus {}

/** Members of the status document beside the vehicle's. */
export interface ModuleFacts {}
