// The inbox: notifications, newest first, and which of them each user has viewed. It shows nothing of devices outside of
// the caller's groups.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { viewEntry } from '../../core/notifications/notice.ts';
import { occurrenceKinds } from '../../core/notifications/occurrence-kinds.ts';
import {
  hasUnviewed,
  type InboxQuery,
  isUnviewed,
  isVisibleNotification,
  listNotifications,
  type NotificationRow,
  viewAll,
  viewOne,
} from '../../store/notifications/notifications.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation, type Pages } from '../base/operation.ts';
import {
  allPages,
  numberedPage,
  numberedQuery,
  optionalPageMembers,
  optionalPageText,
} from '../base/paging.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';

const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

const notification = Type.Object({
  notificationID: Type.String({ description: 'Grows with every notification; decimal text' }),
  kind: Type.Enum(['event', 'account', ...occurrenceKinds], {
    description:
      '`event`: of a vehicle; `account`: a notice of the account; else an occurrence in the service',
  }),
  userID: Type.String({
    description:
      'The user that a notice of the account is about, or who asked for what an occurrence is about or decided; else empty',
  }),
  deviceID: Type.String({ description: 'The device; empty for a notice of the account' }),
  deviceDisplayName: Type.String({ description: 'Name of the device; its id when it has none' }),
  statusCode: Type.Integer({ description: 'OpenGTS status code; 0 for what is no event' }),
  statusDescription: Type.String({ description: 'Text of the status code or of the kind' }),
  timestamp: epoch('When it happened; of `device_offline` since when'),
  creationTime: epoch('When the service received it'),
  latitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  longitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  isPositionValid: Type.Boolean({ description: 'False without a position' }),
  geozoneID: Type.String({ description: 'Geozone; empty outside of all' }),
  commandID: Type.Union([Type.String(), Type.Null()], { description: 'The command that it reports on' }),
  commandState: Type.Union([Type.String(), Type.Null()], { description: 'State of that command' }),
  objectID: Type.String({
    description:
      'Approval, enrolment code, or serial number of the certificate that an occurrence is about; else empty',
  }),
  ends: epoch('When the waiting for an approval or the certificate ends; 0 for others'),
  alarmID: Type.String({
    description: 'The alarm that the event raised or repeated, for `getAlarm`; empty without one',
  }),
  late: Type.Boolean({ description: 'True when it arrived more than 15 minutes after it happened' }),
  viewed: Type.Boolean({ description: 'Whether the caller has viewed it' }),
});
type NotificationView = Static<typeof notification>;

const example: NotificationView = {
  notificationID: '4711',
  kind: 'event',
  userID: '',
  deviceID: 'truck-17',
  deviceDisplayName: 'truck-17',
  statusCode: 63553,
  statusDescription: 'Panic',
  timestamp: 1763683200,
  creationTime: 1763683201,
  latitude: 43.65107,
  longitude: -79.34702,
  isPositionValid: true,
  geozoneID: '',
  commandID: null,
  commandState: null,
  objectID: '',
  ends: 0,
  alarmID: '4712',
  late: false,
  viewed: false,
};

const viewNotification = (row: NotificationRow): NotificationView => ({
  ...viewEntry(row),
  viewed: row.isViewed,
});

const query = Type.Object(numberedQuery);

type Choice = Pick<InboxQuery, 'deviceNo' | 'isUnviewedOnly'> & { readonly query: Static<typeof query> };

async function* viewed(pages: Pages<NotificationRow>): Pages<NotificationView> {
  for await (const rows of pages) yield rows.map(viewNotification);
}

/** Everything, or the page that was asked for. */
async function inbox({ db }: ApiServices, caller: Caller, choice: Choice) {
  const { deviceNo, isUnviewedOnly, query: asked } = choice;
  const { scope, userID } = caller;
  const list = {
    read: (span: { readonly before: number; readonly limit: number }) =>
      listNotifications(db, { scope, userID, deviceNo, isUnviewedOnly, ...span }),
    numberOf: (row: NotificationRow) => row.notificationNo,
  };
  if (asked.limit === undefined && asked.cursor === undefined) {
    return { ...ok, notifications: viewed(allPages(list)) };
  }
  const { page, more, next } = await numberedPage(asked, list);
  return { ...ok, notifications: page.map(viewNotification), more, next };
}

const result = Type.Object({
  ...envelope,
  notifications: Type.Array(notification, { description: 'Newest first' }),
  ...optionalPageMembers,
});
const exampleResult = { ...ok, notifications: [example] };

const common = `A notification stands for one event: each with a status code of an alert (the four categories of the
activation summary), and each event that a rule sent to a user; or for an occurrence in the service that a rule is about
(\`kind\`, \`statusCode\` 0, the last known position). Administrators see notices of the account too (\`statusCode\` 0, \`userID\`): a
user who waits for a confirmation as a second person, and each confirmation; they are mailed and pushed to administrators without a rule. Newest first, by arrival. The account's inbox keeps 90 days and
at most 100,000 notifications; older ones go. \`viewed\` is the caller's own mark. ${optionalPageText}`;

const getAllPushNotifications = operation({
  id: 'getAllPushNotifications',
  method: 'GET',
  path: '/notification/getallpushnotifications/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Notifications',
  summary: 'The inbox: all notifications',
  description: `Every notification of devices that the caller may see, viewed or not. ${common}`,
  params: Type.Object({}),
  query,
  body: null,
  result,
  errors: ['invalid_content'],
  effects: false,
  examples: { result: exampleResult },
  async run({ caller, query }, services) {
    return inbox(services, caller, { deviceNo: null, isUnviewedOnly: false, query });
  },
});

const getNotifications = operation({
  id: 'getNotifications',
  method: 'GET',
  path: '/notificationqueue/getnotifications/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Notifications',
  summary: 'Notifications that the caller has not viewed',
  description: `The notifications of \`getAllPushNotifications\` that the caller has not viewed. Reading does not mark them;
\`setViewed\` does. ${common}`,
  params: Type.Object({}),
  query,
  body: null,
  result,
  errors: ['invalid_content'],
  effects: false,
  examples: { result: exampleResult },
  async run({ caller, query }, services) {
    return inbox(services, caller, { deviceNo: null, isUnviewedOnly: true, query });
  },
});

const getDeviceNotifications = operation({
  id: 'getDeviceNotifications',
  method: 'GET',
  path: '/notificationqueue/getdevicenotifications/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Notifications',
  summary: 'Notifications of one device',
  description: `Every notification of the device, viewed or not. ${common}`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  query,
  body: null,
  result,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { result: exampleResult },
  async run({ params, caller, query }, services) {
    const { deviceNo } = await needDevice(services, caller, params.deviceID);
    return inbox(services, caller, { deviceNo, isUnviewedOnly: false, query });
  },
});

const setViewed = operation({
  id: 'setViewed',
  method: 'GET',
  path: '/notification/setviewed/{notificationID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'write', ofDevices: false },
  tag: 'Notifications',
  summary: 'Mark a notification as viewed',
  description: `Marks one notification, or with \`*\` all that there are at this moment, as viewed by the caller and by no one
else. Doing it again changes nothing and answers the same. A notification of a device that the caller may not see answers
404, like one that is not there.`,
  params: Type.Object({
    notificationID: Type.String({
      pattern: '^(\\*|[0-9]{1,15})$',
      description: 'The notification; `*` = all',
    }),
  }),
  body: null,
  result: Type.Object(envelope),
  errors: ['not_found', 'invalid_content'],
  effects: true,
  examples: { params: { notificationID: '*' } },
  async run({ params, caller, source }, services) {
    const { accountID, userID, scope } = caller;
    const viewer = { accountID, userID };
    const audited = { action: 'notification.view', object: params.notificationID };
    if (params.notificationID === '*') {
      const onlyIf = hasUnviewed(viewer);
      await services.db.write([
        auditEntry(services, { caller, source }, { ...audited, onlyIf }),
        ...viewAll(viewer),
      ]);
      return ok;
    }
    const notificationNo = Number(params.notificationID);
    if (!(await isVisibleNotification(services.db, { scope, userID }, notificationNo))) {
      throw new AppError('not_found', `There is no notification ${notificationNo}`);
    }
    const onlyIf = isUnviewed(viewer, notificationNo);
    await services.db.write([
      auditEntry(services, { caller, source }, { ...audited, onlyIf }),
      viewOne(viewer, notificationNo),
    ]);
    return ok;
  },
});

export const notificationOperations = [
  getAllPushNotifications,
  getNotifications,
  getDeviceNotifications,
  setViewed,
] as const;
