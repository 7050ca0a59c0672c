// The inbox: what people were told of or should look at, newest first, and what each of them has viewed. It shows nothing
// of devices outside of the caller's groups.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { viewEntry } from '../../core/notice.ts';
import {
  hasUnviewed,
  type InboxQuery,
  isUnviewed,
  isVisibleNotification,
  listNotifications,
  type NotificationRow,
  viewAll,
  viewOne,
} from '../../store/notifications.ts';
import { needDevice } from '../devices/devices.ts';
import { newestFirst, pagesDown } from '../newest-first.ts';
import { type ApiServices, type Caller, operation, type Pages } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';

const epoch = (description: string) => Type.Integer({ description: `${description} (epoch seconds)` });

const notification = Type.Object({
  notificationID: Type.String({ description: 'Grows with every notification; decimal text' }),
  deviceID: Type.String({ description: 'The device' }),
  deviceDisplayName: Type.String({ description: 'Name of the device; its id when it has none' }),
  statusCode: Type.Integer({ description: 'OpenGTS status code' }),
  statusDescription: Type.String({ description: 'Text of the status code' }),
  timestamp: epoch('When it happened on the vehicle'),
  creationTime: epoch('When the service received it'),
  latitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  longitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  isPositionValid: Type.Boolean({ description: 'False without a position' }),
  geozoneID: Type.String({ description: 'Geozone; empty outside of all' }),
  commandID: Type.Union([Type.String(), Type.Null()], { description: 'The command that it reports on' }),
  commandState: Type.Union([Type.String(), Type.Null()], { description: 'State of that command' }),
  late: Type.Boolean({ description: 'True when it arrived more than 15 minutes after it happened' }),
  viewed: Type.Boolean({ description: 'Whether the caller has viewed it' }),
});
type NotificationView = Static<typeof notification>;

const example: NotificationView = {
  notificationID: '4711',
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
  late: false,
  viewed: false,
};

const viewNotification = (row: NotificationRow): NotificationView => ({
  ...viewEntry(row),
  viewed: row.isViewed,
});

type Choice = Pick<InboxQuery, 'deviceNo' | 'isUnviewedOnly'> & {
  readonly query: Static<typeof newestFirst>;
};

function inbox({ db }: ApiServices, caller: Caller, choice: Choice): Pages<NotificationView> {
  const { deviceNo, isUnviewedOnly, query } = choice;
  const { scope, userID } = caller;
  return pagesDown(query, {
    read: (span) => listNotifications(db, { scope, userID, deviceNo, isUnviewedOnly, ...span }),
    numberOf: (row) => row.notificationNo,
    view: viewNotification,
  });
}

const result = Type.Object({
  ...envelope,
  notifications: Type.Array(notification, { description: 'Newest first' }),
});
const exampleResult = { ...ok, notifications: [example] };

const common = `A notification stands for one event: each with a status code of an alert (the four categories of the
activation summary), and each that a rule told somebody of. Newest first, by arrival. The account's inbox keeps 90 days and
at most 100,000 notifications; older ones go. \`viewed\` is the caller's own mark. The whole list is answered; \`limit\`
(up to 99999) and \`before\` (a \`notificationID\`) take a part of it.`;

const getAllPushNotifications = operation({
  id: 'getAllPushNotifications',
  method: 'GET',
  path: '/notification/getallpushnotifications/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Notifications',
  summary: 'The inbox: all notifications',
  description: `Every notification of devices that the caller may see, viewed or not. ${common}`,
  params: Type.Object({}),
  query: newestFirst,
  body: null,
  result,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: {}, body: null, result: exampleResult },
  async run({ caller, query }, services) {
    return {
      ...ok,
      notifications: inbox(services, caller, { deviceNo: null, isUnviewedOnly: false, query }),
    };
  },
});

const getNotifications = operation({
  id: 'getNotifications',
  method: 'GET',
  path: '/notificationqueue/getnotifications/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Notifications',
  summary: 'Notifications that the caller has not viewed',
  description: `The notifications of \`getAllPushNotifications\` that the caller has not viewed. Reading does not mark them;
\`setViewed\` does. ${common}`,
  params: Type.Object({}),
  query: newestFirst,
  body: null,
  result,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: {}, body: null, result: exampleResult },
  async run({ caller, query }, services) {
    return { ...ok, notifications: inbox(services, caller, { deviceNo: null, isUnviewedOnly: true, query }) };
  },
});

const getDeviceNotifications = operation({
  id: 'getDeviceNotifications',
  method: 'GET',
  path: '/notificationqueue/getdevicenotifications/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Notifications',
  summary: 'Notifications of one device',
  description: `Every notification of the device, viewed or not. ${common}`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  query: newestFirst,
  body: null,
  result,
  errors: ['not_found', 'invalid_content'],
  effects: false,
  examples: { params: { deviceID: 'truck-17' }, body: null, result: exampleResult },
  async run({ params, caller, query }, services) {
    const { deviceNo } = await needDevice(services, caller, params.deviceID);
    return { ...ok, notifications: inbox(services, caller, { deviceNo, isUnviewedOnly: false, query }) };
  },
});

const setViewed = operation({
  id: 'setViewed',
  method: 'GET',
  path: '/notification/setviewed/{notificationID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Notifications',
  summary: 'Mark a notification as viewed',
  description: `Marks one notification, or with \`*\` all that there are at this moment, as viewed by the caller and by nobody
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
  examples: { params: { notificationID: '*' }, body: null, result: ok },
  async run({ params, caller, source }, services) {
    const { accountID, userID, scope } = caller;
    const viewer = { accountID, userID };
    const deed = { action: 'notification.view', object: params.notificationID };
    if (params.notificationID === '*') {
      const onlyIf = hasUnviewed(viewer);
      await services.db.write([trail(services, { caller, source }, { ...deed, onlyIf }), ...viewAll(viewer)]);
      return ok;
    }
    const notificationNo = Number(params.notificationID);
    if (!(await isVisibleNotification(services.db, scope, notificationNo))) {
      throw new AppError('not_found', `there is no notification ${notificationNo}`);
    }
    const onlyIf = isUnviewed(viewer, notificationNo);
    await services.db.write([
      trail(services, { caller, source }, { ...deed, onlyIf }),
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
