#!/usr/bin/env python3
"""Oracle of the relay guard, written from its note (agent/guard/README.md) alone.

It reads JSON lines on standard input: a `setup`, then facts and questions; a further
`setup` starts anew. It prints one answer for each question. No line of the guard itself
was read for it, so an error in the guard and the same error here would be chance.
Words in quotes in the comments are clauses of the note.
"""
import json
import sys

# "Limits"
INPUT_MS, FIX_MS, WARNING_MS = 600, 2000, 6000
GAP_MS, STEP_MS, UNREAD_MS = 200, 20, 130
MOVING_KMH = 3
# Signs: from which value on, and for how long
SIGNS = {"rpm": (100, 10000), "busRpm": (300, 2000), "busKmh": (3, 2000)}
PULSE_MS, QUIET_MS, STUCK_MS = 3000, 30000, 600000
CARRIED_MS, TRY_MS, BETWEEN_MS, PER_HOUR, HOUR_MS = 4000, 2000, 10000, 6, 3600000
ZONE_LIFE_MS, ATTENDED_LIFE_MS = 86400000, 125000

# "A thing that was never read is infinitely old": its time is minus infinity.
NEVER = float("-inf")
INFINITE = float("inf")
FEATURES = ("enginecutoff", "cargoaccess")
# "The highest one seen (0 at first)".
FIRST_COUNTER = 0

# The names of "Conditions", in the order of the table. A set of refusals is a mask with
# one bit for each; the text of each mask is made once and kept.
NAMES = ("order", "expiry", "inputs", "holdup", "key", "motion", "speed", "place",
         "engine", "bus", "pace", "interlock")
(ORDER, EXPIRY, INPUTS, HOLDUP, KEY, MOTION, SPEED, PLACE,
 ENGINE, BUS, PACE, INTERLOCK) = (1 << n for n in range(12))
PERMIT = '{"permit":true}'
FAULT = '{"permit":false,"refusals":["fault"]}'
texts = {0: PERMIT}

# One scanner for all lines; it is the C scanner behind json.loads without its checks.
scan = json.JSONDecoder().scan_once

def answer_of(mask):
    """Text of the answer with the refusals of `mask`."""
    text = texts.get(mask)
    if text is None:
        names = [name for n, name in enumerate(NAMES) if mask >> n & 1]
        text = '{"permit":false,"refusals":' + json.dumps(names, separators=(",", ":")) + "}"
        texts[mask] = text
    return text

class Order:
    """The order of a feature ("There is at most one for each feature")."""

    __slots__ = ("kind", "id", "end", "utc_end", "carried", "body", "permit")

    def __init__(self, kind, order_id, end, utc_end, carried, body):
        self.kind, self.id, self.carried, self.body = kind, order_id, carried, body
        self.end, self.utc_end = end, utc_end  # monotonic; by UTC, or None if it has none
        self.permit = None  # time of the newest permit for it

class Relay:
    """What is known of the relay of one feature, apart from its order."""

    __slots__ = ("reading", "since", "tried", "closings")

    def __init__(self):
        self.reading = None  # last reading that was true or false
        self.since = self.tried = NEVER  # tried: first permit of the newest try
        self.closings = []  # oldest first, at most PER_HOUR

    def close(self, at):
        self.closings.append(at)
        del self.closings[:-PER_HOUR]

def number(value):
    """True for a number of JSON (a bool is none)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)

def body_of(token):
    """Body of a broker token, or None. "A token is `good.` and the body as JSON; any
    other token is a bad signature"."""
    if not isinstance(token, str) or not token.startswith("good."):
        return None
    try:
        body = json.loads(token[5:])
    except ValueError:
        return None
    # "or the form is wrong": the note leaves the form to wire.ts, which is not read here.
    # So only what this oracle needs is looked at.
    if (not isinstance(body, dict) or body.get("feature") not in FEATURES
            or body.get("state") not in ("0", "1")
            or not isinstance(body.get("commandID"), str)
            or not all(number(body.get(n)) for n in ("counter", "issuedMs", "expiresMs"))):
        return None
    return body

class Guard:
    def __init__(self, setup):
        self.account, self.device, self.boot = setup["accountID"], setup["deviceID"], setup["boot"]
        self.zone_cuts, self.may_lack_fix = setup["zoneCuts"], setup["mayLackFix"]
        warning = setup["warningMs"]
        self.warning_needed = INFINITE if warning is None else warning  # "null is infinite"
        ignition, motion = setup["ignition"], setup["motion"]
        # None: not fitted, so it stays unknown for ever
        self.ignition_invert = None if ignition is None else ignition["invert"]
        self.motion_invert = None if motion is None else motion["invert"]
        self.outputs = setup["outputs"]
        self.has_owner, self.owner_list = setup["hasOwner"], None

        self.newest = self.step = self.held_up = NEVER
        # Inputs: True: active, False: not active, None: unknown
        self.ignition = self.motion = None
        self.ignition_asked = self.motion_asked = NEVER
        # "Motion" of the note: readMs, readSinceMs, activeMs, activeSinceMs
        self.read = self.read_since = self.active = self.active_since = NEVER
        self.fix_kmh = None
        self.fast = self.fix_at = NEVER
        self.signs = dict.fromkeys(SIGNS, NEVER)
        self.clock = None  # (atMs, utcMs, isSigned)
        self.grants = frozenset()
        self.sound_since = None  # start of the sound of the warning, None: silent
        self.warning_at = NEVER
        self.relays = {feature: Relay() for feature in FEATURES}
        self.orders = {feature: None for feature in FEATURES}
        self.counter = FIRST_COUNTER

    def takers(self):
        """Table of kinds. It stays outside the guard, so a guard is freed at once."""
        return {
            "step": self.take_step, "inputs": self.take_inputs, "relays": self.take_relays,
            "sign": self.take_sign, "speed": self.take_speed, "owner": self.take_owner,
            "clock": self.take_clock, "grants": self.take_grants, "order": self.take_order}

    # ---- "Facts" ----

    def take_step(self, fact):
        at, passed = fact["atMs"], fact["atMs"] - self.step
        if passed < STEP_MS:
            return  # two calls in a row prove no more than one
        if passed > GAP_MS:  # infinite if there was no step before
            self.held_up = at
        self.step = at

    def take_inputs(self, fact):
        asked = fact.get("askedMs")
        if asked is None or asked > fact["atMs"]:
            asked = NEVER  # a request of later than its answer is none
        # "present": an absent member was not read, null was read and means nothing
        if self.ignition_invert is not None and "ignition" in fact:
            bit = fact["ignition"]
            self.ignition = None if bit is None else bit != self.ignition_invert
            self.ignition_asked = asked
        if self.motion_invert is not None and "motion" in fact:
            bit = fact["motion"]
            self.motion_asked = asked
            self.motion = None if bit is None else bit != self.motion_invert
            if bit is None:
                return
            at = fact["atMs"]
            # "A known sample": samples no more than pulseMs apart are one run
            if at - self.read > PULSE_MS:
                self.read_since = at
            self.read = at
            if self.motion:
                if at - self.active > PULSE_MS:
                    self.active_since = at
                self.active = at

    def take_relays(self, fact):
        at = fact["atMs"]
        if "warning" in fact:
            if fact["warning"] is not True:
                self.sound_since = None
            elif self.sound_since is None:
                self.sound_since = at
            self.warning_at = at
        for feature in FEATURES:
            value = fact.get(feature)
            if value is None:
                continue  # absent or null: the reading before stays the reading before
            relay = self.relays[feature]
            before = relay.reading
            if before is not value:
                # the closing of a permit was counted with the permit
                if value and at - relay.tried > CARRIED_MS:
                    relay.close(at)
                relay.since = at
            relay.reading = value
            order = self.orders[feature]
            if feature == "cargoaccess":
                if before and not value:
                    self.orders[feature] = None  # an unlock counts once
            elif (order is not None and value and order.permit is not None
                    and relay.since < order.end
                    and at - relay.since >= CARRIED_MS and at - order.permit >= CARRIED_MS):
                order.carried = True

    def take_sign(self, fact):
        of, value = fact["of"], fact["value"]
        if value is not None:  # a reading that means nothing leaves the last one that does
            self.signs[of] = fact["atMs"] if value >= SIGNS[of][0] else NEVER

    def take_speed(self, fact):
        kmh, is_fix = fact.get("kmh"), fact.get("isFix")
        if is_fix is not None and kmh is not None and kmh > MOVING_KMH:
            self.fast = fact["atMs"]  # dead reckoning counts against, never for
        if fact["of"] == "RMC":
            self.fix_kmh = kmh if is_fix is True else None
            self.fix_at = fact["atMs"]

    def take_owner(self, fact):
        self.owner_list = fact["list"]

    def take_clock(self, fact):
        if self.clock is None or fact["isSigned"] or not self.clock[2]:
            self.clock = (fact["atMs"], fact["utcMs"], fact["isSigned"])

    def take_grants(self, fact):
        self.grants = frozenset(fact["grants"])

    def take_order(self, fact):
        """"Order": the sentences of the note, in their order."""
        proof, origin, at = fact["proof"], fact["origin"], fact["atMs"]
        kind = proof["kind"]
        is_new = origin == "new"
        if not is_new and self.step != NEVER:
            return  # kept orders count at the start only
        utc_end = body = None
        if kind == "broker":
            body = body_of(proof.get("token"))
            if (body is None or body["accountID"] != self.account
                    or body["deviceID"] != self.device
                    or (is_new and body["boot"] != self.boot)):
                return  # "an invalid proof changes nothing"
            counter = body["counter"]
            if is_new and counter <= self.counter:
                return
            if origin == "carried" and body["feature"] == "cargoaccess":
                return  # a lock is never opened again, and nothing else changes
            if counter > self.counter:
                self.counter = counter
            feature, order_id = body["feature"], body["commandID"]
            before = self.orders[feature]
            if body.get("cancel"):
                if before is not None and before.id == order_id and not before.carried:
                    self.orders[feature] = None
                return  # "and nothing else follows"
            if body["state"] == "0":
                self.orders[feature] = None
                return
            end = at + (body["expiresMs"] - body["issuedMs"])
            if not is_new:
                utc_end = body["expiresMs"]
        elif kind == "zone":
            feature = proof["feature"]
            if origin == "carried" and feature == "cargoaccess":
                return
            before = self.orders[feature]
            if before is not None and before.kind == "broker" and not before.carried:
                return  # a person's order goes before that of a geozone
            order_id = f'{feature} {proof["to"]} {proof["zoneID"]}'
            end = at + ZONE_LIFE_MS
            if not is_new:
                utc_end = proof["untilMs"]
        else:
            if not is_new or proof["agreedMs"] > at:
                return  # nobody consents in the future
            feature = proof["feature"]
            before = self.orders[feature]
            # "the text of agreedMs": as JavaScript writes a number
            agreed = proof["agreedMs"]
            order_id = str(int(agreed)) if agreed == int(agreed) else repr(agreed)
            end = agreed + ATTENDED_LIFE_MS
        if before is not None and before.id == order_id:
            end = min(end, before.end)  # the same order does not live longer by coming twice
        self.orders[feature] = Order(kind, order_id, end, utc_end, origin == "carried", body)

    # ---- "Questions" ----

    def ask(self, question):
        request = question["request"]
        kind = request["kind"]
        if kind == "readBits" or kind == "readRegisters":
            return PERMIT  # a read may close nothing
        is_coil = kind not in ("writeRegister", "writeRegisters")
        if kind == "writeCoils" or kind == "writeRegisters":
            first, values = request["first"], request["values"]
        else:
            first = request["address"]
            values = (request["on"] if kind == "writeCoil" else request["value"],)
        unit = request["unit"]
        # "Unit 0 is every unit": there only the relays of vehicle features are named.
        reached = [one for one in self.outputs
                   if one["unit"] == unit or (unit == 0 and one["feature"] is not None)]
        if all(one["feature"] is None for one in reached):
            return PERMIT  # a unit without a restrictive relay
        touched = set()
        may_close = is_stray = False
        for n, value in enumerate(values):
            named = [one for one in reached
                     if (one["off"] is None) == is_coil and first + n in one["addresses"]]
            is_stray = is_stray or not named
            for one in named:
                if one["feature"] is None:
                    continue
                touched.add(one["feature"])
                # "anything but false (coil) or `off` (register)"
                if kind == "pulseCoil" or (value is not False if is_coil
                                           else isinstance(value, bool) or value != one["off"]):
                    may_close = True
        if is_stray:
            return FAULT
        if not may_close:
            for feature in touched:  # a safe write ends what was carried out
                order = self.orders[feature]
                if order is not None and order.carried:
                    self.orders[feature] = None
            return PERMIT
        if len(touched) > 1 or question["isAllowed"] == "throw":
            return FAULT
        feature, now = touched.pop(), question["nowMs"]
        mask = self.refusals(feature, now, question["isAllowed"])
        if mask == 0:
            relay, order = self.relays[feature], self.orders[feature]
            if now - relay.tried >= TRY_MS:
                relay.tried = now
                relay.close(now)
            order.permit = now
        return answer_of(mask)

    def is_agreed(self, order, now):
        """"Owner": as many persons of the list in force as it wants agree to this order."""
        body, named = order.body, self.owner_list
        if body is None or named is None:
            return False
        if order.carried:
            utc = body["expiresMs"] - 1
        elif self.clock is None:
            return False
        else:
            utc = self.clock[1] + (now - self.clock[0])
        if utc >= named["validUntilMs"] or utc >= body["expiresMs"]:
            return False
        by = [one["credential"] for one in body.get("assertions", ())]
        return (all(one in named["persons"] for one in by)
                and len(set(by)) >= named["needed"][body["feature"]])

    def refusals(self, feature, now, is_allowed):
        """"Conditions": the mask of those that do not hold for closing at `now`."""
        order = self.orders[feature]
        kind, carried = (None, False) if order is None else (order.kind, order.carried)
        is_engine = feature == "enginecutoff"
        ignition, motion = self.ignition, self.motion
        key_off, key_on = ignition is False, ignition is True

        # The terms above the table
        fix = self.fix_kmh is not None and now - self.fix_at <= FIX_MS
        stuck = (fix and now - self.active_since >= STUCK_MS
                 and self.fast < self.active_since)
        moved = (motion is True or now - self.active <= PULSE_MS) and not stuck
        quiet = motion is False and not moved
        asked = [at for bit, at in ((ignition, self.ignition_asked), (motion, self.motion_asked))
                 if bit is not None]

        mask = 0  # each bit is named as the row of the table
        if order is None or (not self.is_agreed(order, now) if self.has_owner else
                             kind == "zone" and (order.id not in self.grants
                                                 or (is_engine and not self.zone_cuts))):
            mask |= ORDER
        # without an order there is no end to be before
        if not carried and (order is None or now >= order.end
                            or not self.is_before_utc(order.utc_end, now)):
            mask |= EXPIRY
        if asked and now - min(asked) > INPUT_MS:  # none known: nothing to be old
            mask |= INPUTS
        if (now < self.newest or now - self.step > GAP_MS or (asked and min(asked) < self.held_up)
                or (fix and self.fix_at - UNREAD_MS < self.held_up)):
            mask |= HOLDUP
        if not key_off:
            if not (fix and quiet):
                mask |= KEY
            elif is_engine:
                if not (key_on and kind == "broker" and not carried and self.is_warned(now)):
                    mask |= KEY
            elif kind == "attended":
                mask |= KEY
        if moved:
            mask |= MOTION
        if now - self.fast <= FIX_MS:
            mask |= SPEED
        if not fix:
            rested = quiet and now - max(self.read_since, self.active) >= QUIET_MS
            if not (key_off and (kind == "attended" or (self.may_lack_fix and rested))):
                mask |= PLACE
        if is_engine and not key_on and (self.shows("rpm", now) or self.shows("busRpm", now)):
            mask |= ENGINE
        if self.shows("busKmh", now):
            mask |= BUS
        relay = self.relays[feature]
        closings = relay.closings
        if now - relay.tried < TRY_MS:  # the try under way does not count against itself
            closings = [at for at in closings if at != relay.tried]
        # the newest closing is the nearest, so it speaks for each
        if closings and (now - closings[-1] < BETWEEN_MS or (
                len(closings) == PER_HOUR and now - closings[0] < HOUR_MS)):
            mask |= PACE
        if is_allowed is not True:
            mask |= INTERLOCK
        return mask

    def is_before_utc(self, utc_end, now):
        """An end by UTC is not reached: "later than any life if there is none" (no clock)."""
        if utc_end is None:
            return True
        if self.clock is None:
            return False
        return self.clock[1] + (now - self.clock[0]) < utc_end

    def is_warned(self, now):
        return (self.sound_since is not None and now - self.warning_at <= WARNING_MS
                and now - self.sound_since >= self.warning_needed)

    def shows(self, of, now):
        return now - self.signs[of] <= SIGNS[of][1]

def main(lines, out):
    guard = takers = ask = None
    answers = []
    for text in lines:
        line = scan(text, 0)[0]
        fact = line.get("fact")
        if fact is not None:
            guard.newest = max(guard.newest, fact["atMs"])
            takers[fact["kind"]](fact)
        elif "ask" in line:
            answers.append(ask(line["ask"]))
            if len(answers) >= 4096:  # few large writes, and no answer kept for long
                out.write("\n".join(answers) + "\n")
                answers.clear()
        else:
            guard = Guard(line["setup"])  # "A further setup starts anew"
            takers, ask = guard.takers(), guard.ask
    out.write("".join(text + "\n" for text in answers))

if __name__ == "__main__":
    import gc
    gc.disable()  # no cycles here: nothing to search for
    main(sys.stdin, sys.stdout)
