// What an API token may call: a table of all operations that need a token. Deny by default: an operation that does not stand
// here is for logins only, and a test holds the table against the list of operations.
import { AppError } from '../../../src/core/errors.ts';
import type { TokenScope } from '../../core/accounts/session.ts';
import { type Caller } from './caller.ts';

/** By operation id. `ofDevices`: reaches devices within the caller's scope only, so a token that names devices may call it. */
interface Rights {
  readonly ofDevices: readonly string[];
  readonly ofAccount: readonly string[];
}

export const tokenRights: Readonly<Record<TokenScope, Rights>> = {
  read: {
    ofDevices: [
      'getAllDevices',
      'getMaps',
      'getDevice',
      'passengerCount',
      'latestEvent',
      'deviceMetadataRange',
      'deviceMetadata',
      'deviceDataRange',
      'deviceData',
      'fleetMetadata',
      'fleetDataRange',
      'fleetData',
      'getDeviceActivations',
      'getDeviceActivationsRange',
      'activations',
      'activationSummary',
      'listAlarms',
      'getAlarm',
      'getAlarmSummary',
      'exportGpx',
      'exportCsv',
      'exportGeojson',
      'reportTrips',
      'reportStops',
      'reportSummary',
      'streamEvents',
      'listApprovals',
      'getCommand',
      'listCommands',
      'sentMessages',
      'diagnosticAll',
      'diagnostic',
      'lostVehicles',
      'lostVehiclesFor',
      'getDeviceSettings',
      'getShares',
      'listRequests',
      'getRequest',
      'readLog',
    ],
    ofAccount: [
      'checkAccount',
      'getUser',
      'getPreferences',
      'groups',
      'getGeozone',
      'getGeozonesAt',
      'getGeozonesOfDevice',
      'getGeozones',
      'getGeozonesRange',
      'getRoutes',
      'commandLimits',
      'getMessages',
      'getAccountSettings',
      'getAllPushNotifications',
      'getNotifications',
      'getDeviceNotifications',
      'getVapidKey',
      'getReportSchedules',
      'getMonitorMetaData',
      'listQuarantine',
      'getQuarantined',
    ],
  },
  write: {
    ofDevices: [
      'createDevice',
      'updateDevice',
      'updateAddress',
      'deviceSettings',
      'createActivation',
      'takeAlarm',
      'takeAlarms',
      'releaseAlarm',
      'assignAlarm',
      'shelveAlarm',
      'unshelveAlarm',
      'closeAlarm',
      'closeAlarms',
      'addAlarmNote',
      'setMessages',
      'createShare',
      'revokeShare',
    ],
    ofAccount: [
      'importDevices',
      'createGeozone',
      'updateGeozone',
      'deleteGeozone',
      'routeUpdate',
      'deleteRoute',
      'readMessages',
      'setViewed',
      'savePreferences',
      'subscribePush',
      'registerPush',
      'unregisterPush',
      'updateReportSchedule',
      'deleteReportSchedule',
      'sendReport',
    ],
  },
  command: {
    ofDevices: [
      'commandFeature',
      'commandDevices',
      'commandFeatureEngineCutoff',
      'commandSend',
      'updateDeviceCargoAccess',
      'updateDeviceEngineCutoff',
      'approveCommand',
      'refuseCommand',
      'withdrawCommand',
      'cancelCommand',
      'requestDiagnostic',
      'showServiceCode',
    ],
    ofAccount: [],
  },
  admin: {
    ofDevices: [],
    ofAccount: [
      'getAccount',
      'updateAccount',
      'confirmUser',
      'updateGroup',
      'deleteGroup',
      'changeGroupDevices',
      'getAllUsers',
      'createUser',
      'updateUser',
      'deleteUser',
      'resetBreaker',
      'firmware',
      'createRelease',
      'getReleases',
      'getRelease',
      'getReleaseUnits',
      'startReleaseStage',
      'stopRelease',
      'issueDeviceSecret',
      'importDevicesWithSecrets',
      'deleteDevice',
      'deleteDevices',
      'createEnrolmentCode',
      'getEnrolmentCodes',
      'revokeEnrolmentCode',
      'dropQuarantined',
      'retryQuarantined',
      'saveAccountSettings',
      'saveDeviceSettings',
      'getDeliveries',
      'retryDelivery',
      'getRules',
      'updateRule',
      'deleteRule',
      'testRule',
      'tryRule',
      'auditEntries',
      'checkAudit',
    ],
  },
};

/** For every token: they concern the token itself. */
export const ownTokenRights: readonly string[] = ['logout', 'getTokens'];

/** For logins only, which no token may become: passwords, tokens and sessions. */
export const loginRights: readonly string[] = [
  'token',
  'revokeToken',
  'revokeTokens',
  'changePassword',
  'beginLoginAgain',
  'finishLoginAgain',
];

interface Right {
  readonly scope: TokenScope;
  readonly isOfDevices: boolean;
}

const rights = new Map(
  Object.entries(tokenRights).flatMap(([scope, { ofDevices, ofAccount }]) =>
    [...ofDevices, ...ofAccount].map((id): [string, Right] => [
      id,
      { scope: scope as TokenScope, isOfDevices: ofDevices.includes(id) },
    ]),
  ),
);

/** @throws AppError `forbidden` when the caller's API token does not cover the operation. A login covers every one. */
export function needTokenRight({ scopes, scope }: Caller, { id }: { readonly id: string }): void {
  if (scopes === null || ownTokenRights.includes(id)) return;
  const right = rights.get(id);
  if (right === undefined) {
    throw new AppError('forbidden', `${id} is for logins: no API token may call it`, {
      hint: 'Log in with the password.',
    });
  }
  if (!scopes.includes(right.scope)) {
    const held = scopes.length === 0 ? 'none' : scopes.join(', ');
    throw new AppError(
      'forbidden',
      `${id} needs a token with the scope ${right.scope}; this one has ${held}`,
      {
        hint: 'Make a token with that scope: see `token`.',
      },
    );
  }
  if (scope.within === undefined || right.isOfDevices) return;
  throw new AppError('forbidden', `${id} concerns the account, and this token names devices or groups`, {
    hint: 'Make a token that names none.',
  });
}
