// Types of the operations that the console calls, taken from the operations' own literals: nothing is generated, and nothing of
// the broker is loaded. A wrong path or a misread member does not compile.
import type { Static, TObject } from 'typebox';
import type { statusAnswer } from '../../api/operator/status-shapes.ts';
import type { ServedOperation as Served } from '../../operations.ts';

/** One id that is no literal would let every route pass: then none does. */
type ServedID = string extends Served['id'] ? never : Served['id'];
type Of<I extends ServedID> = Extract<Served, { readonly id: I }>;

/** Method and path of each operation that the console calls. */
export const routes = {
  login: 'POST /auth/login',
  loginWays: 'GET /auth/login/ways',
  loginByCode: 'POST /auth/login/code',
  beginPasskeyLogin: 'GET /auth/login/passkey/begin',
  loginByPasskey: 'POST /auth/login/passkey',
  getPasskeys: 'GET /auth/passkeys/authorization',
  beginPasskey: 'POST /auth/passkeys/begin/authorization',
  addPasskey: 'POST /auth/passkeys/add/authorization',
  deletePasskeys: 'POST /auth/passkeys/delete/authorization',
  getTotp: 'GET /auth/totp/authorization',
  beginTotp: 'POST /auth/totp/begin/authorization',
  confirmTotp: 'POST /auth/totp/confirm/authorization',
  deleteTotp: 'POST /auth/totp/delete/authorization',
  loginByTotp: 'POST /auth/login/totp',
  beginProviderLogin: 'GET /auth/login/begin',
  finishProviderLogin: 'POST /auth/login/finish',
  logout: 'GET /auth/logout/{accountID}/{userID}',
  getUser: 'GET /user/getuser/{userID}/authorization',
  getAllDevices: 'GET /device/getalldevices/authorization',
  getDevice: 'GET /device/getdevice/{deviceID}/authorization',
  diagnosticAll: 'GET /diagnostic/diagnosticall/authorization',
  diagnostic: 'GET /diagnostic/diagnostic/{deviceID}/authorization',
  passengerCount: 'GET /device/passengercount/{deviceID}/authorization',
  getWays: 'GET /map/ways/{zoom}/{x}/{y}/authorization',
  updateAddress: 'POST /device/updateaddress/authorization',
  deviceDataRange: 'GET /eventdata/devicedata/{deviceID}/{startTime}/{endTime}/authorization',
  listAlarms: 'GET /alarm/alarms/authorization',
  getAlarm: 'GET /alarm/alarm/{alarmID}/authorization',
  getAlarmSummary: 'GET /alarm/summary/authorization',
  takeAlarm: 'POST /alarm/take/authorization',
  releaseAlarm: 'POST /alarm/release/authorization',
  shelveAlarm: 'POST /alarm/shelve/authorization',
  unshelveAlarm: 'POST /alarm/unshelve/authorization',
  closeAlarm: 'POST /alarm/close/authorization',
  assignAlarm: 'POST /alarm/assign/authorization',
  takeAlarms: 'POST /alarm/takealarms/authorization',
  closeAlarms: 'POST /alarm/closealarms/authorization',
  addAlarmNote: 'POST /alarm/addnote/authorization',
  commandFeature: 'POST /command/feature/authorization',
  commandDevices: 'POST /command/devices/authorization',
  getMaps: 'GET /map/list/authorization',
  getPracticeFleet: 'GET /practice/fleet/authorization',
  actInPractice: 'POST /practice/act/authorization',
  askInPractice: 'POST /practice/askforcut/authorization',
  getGeozones: 'GET /geozone/getgeozones/authorization',
  createGeozone: 'POST /geozone/creategeozone/authorization',
  updateGeozone: 'POST /geozone/updategeozone/authorization',
  deleteGeozone: 'POST /geozone/deletegeozone/authorization',
  getDrivers: 'GET /driver/getdrivers/authorization',
  driverUpdate: 'POST /driver/driverupdate/authorization',
  deleteDriver: 'POST /driver/deletedriver/authorization',
  getRoutes: 'GET /route/getroutes/authorization',
  routeUpdate: 'POST /route/routeupdate/authorization',
  deleteRoute: 'POST /route/deleteroute/authorization',
  getAccountSettings: 'GET /settings/account/authorization',
  saveAccountSettings: 'POST /settings/saveaccount/authorization',
  saveDeviceSettings: 'POST /settings/savedevice/authorization',
  getDeviceSettings: 'GET /settings/device/{deviceID}/authorization',
  listCommands: 'GET /command/list/{deviceID}/authorization',
  cancelCommand: 'POST /command/cancel/authorization',
  reportTrips: 'GET /report/trips/{deviceID}/{startTime}/{endTime}/authorization',
  getReportSchedules: 'GET /report/schedules/authorization',
  updateReportSchedule: 'POST /report/updateschedule/authorization',
  deleteReportSchedule: 'POST /report/deleteschedule/authorization',
  sendReport: 'POST /report/sendschedule/authorization',
  reportSummary: 'GET /report/summary/{deviceID}/{startTime}/{endTime}/authorization',
  fleetData: 'GET /eventdata/fleetdata/{statusCode}/{startTime}/{endTime}/authorization',
  reportStops: 'GET /report/stops/{deviceID}/{startTime}/{endTime}/authorization',
  requestDiagnostic: 'POST /diagnostic/request/authorization',
  listRequests: 'GET /diagnostic/requests/{deviceID}/authorization',
  readLog: 'GET /diagnostic/log/{requestID}/authorization',
  getMessages: 'GET /notificationqueue/getMessages/authorization',
  readMessages: 'POST /notificationqueue/readmessages/authorization',
  setMessages: 'POST /notificationqueue/setMessages/authorization',
  sentMessages: 'GET /notificationqueue/sentmessages/{deviceID}/authorization',
  auditEntries: 'GET /audit/entries/authorization',
  checkAudit: 'GET /audit/check/authorization',
  commandLimits: 'GET /command/limits/authorization',
  getCommand: 'GET /command/get/{commandID}/authorization',
  listApprovals: 'GET /command/approvals/authorization',
  approveCommand: 'POST /command/approve/authorization',
  signCommand: 'POST /command/sign/authorization',
  getOwner: 'GET /owner/get/authorization',
  getSigners: 'GET /owner/signers/{deviceID}/authorization',
  setOwner: 'POST /owner/set/authorization',
  refuseCommand: 'POST /command/refuse/authorization',
  withdrawCommand: 'POST /command/withdraw/authorization',
  getRequest: 'GET /diagnostic/request/{requestID}/authorization',
  showServiceCode: 'POST /device/servicecode/authorization',
  getAllUsers: 'GET /user/getallusers/authorization',
  createDevice: 'POST /device/createdevice/authorization',
  updateDevice: 'POST /device/updatedevice/authorization',
  deviceSettings: 'POST /device/settings/authorization',
  importDevices: 'POST /device/import/authorization',
  importDevicesWithSecrets: 'POST /device/importwithsecrets/authorization',
  deleteDevice: 'POST /device/deletedevice/authorization',
  deleteDevices: 'POST /device/deletedevices/authorization',
  lostVehicles: 'GET /device/lostvehicles/authorization',
  lostVehiclesFor: 'GET /device/lostvehicles/{minutes}/authorization',
  listQuarantine: 'GET /device/quarantine/authorization',
  getQuarantined: 'GET /device/quarantine/{quarantineID}/authorization',
  dropQuarantined: 'POST /device/dropquarantine/authorization',
  retryQuarantined: 'POST /device/retryquarantine/authorization',
  getTracker: 'GET /tracker/gettracker/{deviceID}/authorization',
  issueDeviceSecret: 'POST /device/issuesecret/authorization',
  createEnrolmentCode: 'POST /device/createenrolmentcode/authorization',
  getEnrolmentCodes: 'GET /device/enrolmentcodes/authorization',
  revokeEnrolmentCode: 'POST /device/revokeenrolmentcode/authorization',
  createUser: 'POST /user/createuser/authorization',
  updateUser: 'POST /user/updateuser/authorization',
  deleteUser: 'POST /user/deleteuser/authorization',
  confirmUser: 'POST /user/confirmuser/authorization',
  changePassword: 'POST /user/changepassword/authorization',
  groups: 'GET /group/groups/authorization',
  updateGroup: 'POST /group/updategroup/authorization',
  deleteGroup: 'POST /group/deletegroup/authorization',
  changeGroupDevices: 'POST /group/changedevices/authorization',
  token: 'POST /auth/token/authorization',
  getTokens: 'GET /auth/tokens/authorization',
  revokeToken: 'POST /auth/revoketoken/authorization',
  revokeTokens: 'POST /auth/revoketokens/authorization',
  firmware: 'POST /command/firmware/authorization',
  createRelease: 'POST /release/create/authorization',
  getReleases: 'GET /release/list/authorization',
  getRelease: 'GET /release/get/{releaseID}/authorization',
  getReleaseUnits: 'GET /release/units/{releaseID}/authorization',
  startReleaseStage: 'POST /release/startstage/authorization',
  stopRelease: 'POST /release/stop/authorization',
  getRules: 'GET /notification/rules/authorization',
  updateRule: 'POST /notification/updaterule/authorization',
  deleteRule: 'POST /notification/deleterule/authorization',
  testRule: 'POST /notification/testrule/authorization',
  tryRule: 'POST /notification/tryrule/authorization',
  getDeliveries: 'GET /notification/deliveries/authorization',
  retryDelivery: 'POST /notification/retrydelivery/authorization',
  checkAccount: 'GET /auth/checkaccount/{accountID}/authorization',
  getAccount: 'GET /auth/account/authorization',
  updateAccount: 'POST /auth/updateaccount/authorization',
  resetBreaker: 'POST /command/resetbreaker/authorization',
  getPreferences: 'GET /user/preferences/authorization',
  savePreferences: 'POST /user/savepreferences/authorization',
  getAllPushNotifications: 'GET /notification/getallpushnotifications/authorization',
  getNotifications: 'GET /notificationqueue/getnotifications/authorization',
  getDeviceNotifications: 'GET /notificationqueue/getdevicenotifications/{deviceID}/authorization',
  setViewed: 'GET /notification/setviewed/{notificationID}/authorization',
  getVapidKey: 'GET /notification/vapidkey/authorization',
  subscribePush: 'POST /notification/subscribe/authorization',
  registerPush: 'GET /notification/register-push/{pushID}/authorization',
  unregisterPush: 'GET /notification/unregister-push/{pushID}/authorization',
  beginLoginAgain: 'GET /auth/loginagain/begin/authorization',
  finishLoginAgain: 'POST /auth/loginagain/finish/authorization',
  createShare: 'POST /share/create/authorization',
  getShares: 'GET /share/shares/authorization',
  revokeShare: 'POST /share/revoke/authorization',
} as const satisfies { readonly [I in ServedID]?: `${Of<I>['method']} ${Of<I>['path']}` };

export type OperationID = keyof typeof routes;

type InputOf<S> = S extends TObject ? Static<S> : undefined;
type QueryOf<O> = O extends { readonly query?: infer Q extends TObject } ? Partial<Static<Q>> : undefined;

export type Params<I extends OperationID> = Static<Of<I>['params']>;
export type Body<I extends OperationID> = InputOf<Of<I>['body']>;
export type Query<I extends OperationID> = QueryOf<Of<I>>;
export type Result<I extends OperationID> = Static<Of<I>['result']>;

/** What a call sends; members without content may be left out. */
export type Input<I extends OperationID> = (keyof Params<I> extends never
  ? unknown
  : { readonly params: Params<I> }) &
  (Body<I> extends undefined ? unknown : { readonly body: Body<I> }) & {
    readonly query?: Query<I>;
    readonly signal?: AbortSignal;
    /** Repeats of one intent carry the same key and take effect once. */
    readonly idempotencyKey?: string;
  };

export type Alarm = Result<'listAlarms'>['alarms'][number];
export type Device = Result<'getDevice'>;
export type ListedDevice = Result<'getAllDevices'>['devices'][number];
export type EventRecord = Result<'deviceDataRange'>['eventdata']['devices'][number];
export type PlannedRoute = Result<'getRoutes'>['routes'][number];
export type Geozone = Result<'getGeozones'>['geozones'][string];
export type ListedCommand = Result<'listCommands'>['commands'][number];
export type Trip = Result<'reportTrips'>['trips'][number];
export type Stop = Result<'reportStops'>['stops'][number];
export type UnitRequest = Result<'listRequests'>['requests'][number];
export type AlarmDelivery = Result<'getAlarm'>['deliveries'][number];
export type CloseReason = Body<'closeAlarm'>['reason'];
export type CommandRecord = Result<'getCommand'>;
export type Approval = Result<'listApprovals'>['approvals'][number];
export type Verdict = NonNullable<CommandRecord['verdict']>;
export type Finding = Verdict['rules'][number];
export type Share = Result<'getShares'>['shares'][number];
/** State of the service, for its operator. */
export type StatusView = Static<typeof statusAnswer>;
/** What a share link shows to its holder. */
export type SharedView = Static<Of<'viewShare'>['result']>;
