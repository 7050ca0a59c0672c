// Texts and examples shared by the documentation of the geozone operations.
import { newGeozone } from './geozone-input.ts';
import type { GeozoneView } from './geozone-shapes.ts';
import { viewGeozone } from './geozone-views.ts';

/** Meanings of a geozone's fields, where the interface shows names only. Markdown. */
export const geozoneMeanings = `**Types** (those of OpenGTS; the interface shows numbers only): \`0\` circles, one of the radius about each
point; \`1\` rectangle around the points (at least two, less than 180 degrees wide); \`2\` corridor, everything within the
radius of the line along the points; \`3\` polygon with the points as corners (at least three; where it crosses itself,
by the even-odd rule); \`4\` point of interest: for the map only, no vehicle arrives there or departs. The radius is in
metres. Lines are straight in longitude and latitude (RFC 7946), the shorter way round the Earth, also across the
antimeridian; a polygon around a pole holds the pole that its corners are nearer to.

**Points** within 0.0001 degrees of 0, 0 are not set and count for nothing. A zone with too few points is stored as it
is: \`geozoneWarning\` then says what is missing, and nothing is ever in it.

**Rights.** A geozone belongs to the account and concerns every device of it. Only a user who sees all devices creates, changes or
deletes one; one who is limited to groups is answered 422 \`forbidden\`, and sees geozones only while at least one device is visible.

**Crossings.** Entering is crossing the border: a vehicle that is inside already when a zone is drawn or moved has not entered
it. Each crossing is a record. \`geozoneAlertEntry\` and \`geozoneAlertExit\` make it an alert too: in the inbox, and sent by the
rules with \`alerts\`. \`geozoneAlarmEntry\` and \`geozoneAlarmExit\` make it an alarm as well, low, one for each vehicle and zone, which
stays open until a person closes it; they need the alert, switch it on where it is not sent, and go off with it. Without them an
alert is no alarm: vehicles come and go every day, and an alarm is what a person has to act on. The service decides by the zone
as it is when the record comes in.

**Automations** are stored as asked and carried out by the vehicle only, not by the service. \`...EngineOff\` means engine
cutoff 1, and the vehicle does it only after it has proven that it stands still with the ignition off: a zone never stops
a vehicle that moves. In an account with \`needsApproval\` no zone can ask for it: one person would cut engines by it, and so a
call after which \`...EngineOff\` would be on answers 422 \`conflict\` and changes nothing. The two opposites of one moment (\`...EngineOn\` and \`...EngineOff\`, lock and unlock) cannot both
be on (422).`;

/** A geozone created with nothing but its id. */
export const exampleNewGeozone: GeozoneView = viewGeozone({ geozoneID: 'depot', ...newGeozone }, true);

/** The yard that the truck of the other examples stands in. */
export const exampleGeozone: GeozoneView = {
  ...exampleNewGeozone,
  geozoneDisplayName: 'Depot',
  geozonePoint1: '43.65000,-79.35000',
  geozonePoint2: '43.65000,-79.34000',
  geozonePoint3: '43.66000,-79.34000',
  geozonePoint4: '43.66000,-79.35000',
  geozoneAlertEntry: true,
  geozoneWarning: '',
};
