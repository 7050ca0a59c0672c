// The secret of a device: what was replaced connects no more, also where it is connected already, and a deleted device is gone.
import { logInAsDevice } from '../link/device-login.ts';
import { createFindings, type Exercise, type ExerciseContext, eventually, post } from './exercise.ts';

/** A device of this exercise alone: its connection must not be taken for that of a vehicle. */
const suffix = '-key';

async function issueSecret({ access, changes, secrets }: ExerciseContext, deviceID: string): Promise<string> {
  const { secret } = await post<{ secret: string }>(access.service, '/device/issuesecret', { deviceID });
  changes.push({ userID: access.target.login.userID, action: 'device.issuesecret', object: deviceID });
  secrets.push(secret);
  return secret;
}

export const exerciseSecrets: Exercise = async (context) => {
  const { access, ports, vehicles, changes } = context;
  const { service, target, created } = access;
  const { look, outcome } = createFindings('accessWrong');
  const deviceID = `${vehicles[0]?.deviceID ?? ''}${suffix}`;
  created.push(deviceID);
  await post(service, '/device/createdevice', { deviceID });
  const userID = target.login.userID;
  changes.push({ userID, action: 'device.create', object: deviceID });
  const first = await issueSecret(context, deviceID);
  const connected = await logInAsDevice(ports, target, { deviceID, secret: first });
  look(deviceID, connected.isIn ? null : 'not let in with its own secret');
  const second = await issueSecret(context, deviceID);
  const isOut = await eventually(context, () => Promise.resolve(connected.isOver()));
  look(deviceID, isOut || !connected.isIn ? null : 'still connected with a secret that was replaced');
  connected.close();
  const again = await logInAsDevice(ports, target, { deviceID, secret: first });
  look(deviceID, again.isIn ? 'let in with a secret that was replaced' : null);
  again.close();
  const renewed = await logInAsDevice(ports, target, { deviceID, secret: second });
  look(deviceID, renewed.isIn ? null : 'not let in with its new secret');
  await post(service, '/device/deletedevice', { deviceID });
  created.splice(created.indexOf(deviceID), 1);
  changes.push({ userID, action: 'device.delete', object: deviceID });
  const isGone = await eventually(context, () => Promise.resolve(renewed.isOver()));
  look(deviceID, isGone || !renewed.isIn ? null : 'still connected after it was deleted');
  renewed.close();
  const deleted = await logInAsDevice(ports, target, { deviceID, secret: second });
  look(deviceID, deleted.isIn ? 'let in after it was deleted' : null);
  deleted.close();
  return () => Promise.resolve(outcome());
};
