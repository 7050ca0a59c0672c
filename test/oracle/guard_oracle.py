"""The relay guard in Python, derived from agent/guard/README.md and section 12 of the design alone, never from the code.

Reads JSON lines (a setup, then facts and questions) and prints one answer for each question. Each function quotes what it implements.
"""
import json
import sys
from math import inf

# "Limits", in ms unless a name says otherwise.
INPUT_MS, FIX_MS, WARNING_MS, GAP_MS, LEAST_MS, UNREAD_MS, MOVING_KMH = 600, 2000, 6000, 200, 20, 130, 3
SIGNS = {"rpm": (100, 10_000), "busRpm": (300, 2000), "busKmh": (3, 2000)}  # "from which value on and for how long"
PULSE_MS, QUIET_MS, STUCK_MS = 3000, 30_000, 600_000
CARRIED_MS, TRY_MS, BETWEEN_MS, PER_HOUR, HOUR_MS, ZONE_LIFE_MS, TYPED_LIFE_MS = 4000, 2000, 10_000, 6, 3_600_000, 86_400_000, 125_000
NEVER = -inf  # "A thing that was never read is infinitely old."
FEATURES = ("enginecutoff", "cargoaccess")

class Input:
    """An input as last read."""
    active, asked = None, NEVER

class Relay:
    """A restrictive relay: its last known reading ("unknown if there was none"), its try, and its closings and tries."""
    reading, since, tried, closings = None, NEVER, NEVER, ()

class Order:
    """ "Otherwise it becomes the order of its feature, without a permit: carried out if `origin` is `carried`, else not." """

    def __init__(self, kind, body, name, end, end_utc, origin):
        self.kind, self.body, self.id, self.end, self.permit = kind, body, name, end, None
        self.end_utc = None if origin == "new" else end_utc  # "and, unless `origin` is `new`, at ... by UTC"
        self.is_carried = origin == "carried"

class State:
    """What the facts left."""

    def __init__(self):
        self.newest = self.step = self.held_up = self.fast = NEVER
        self.read = self.read_since = self.active = self.active_since = NEVER
        self.warning_read, self.warning_since = NEVER, None
        self.inputs = {"ignition": Input(), "motion": Input()}
        self.relays = {name: Relay() for name in FEATURES}
        self.signs = dict.fromkeys(SIGNS, NEVER)
        self.fix_kmh, self.fix_at, self.clock, self.grants, self.persons = None, NEVER, None, [], None
        self.counter, self.orders = 0, {}  # "There is at most one for each feature."

def on_step(_setup, state, fact):
    """ "Nothing if less than `leastMs` since the last counted step. Else it is the last counted step; if more than `gapMs` have passed
    since the one before, or there is none, `heldUpMs` becomes `atMs`." """
    at = fact["atMs"]
    if at - state.step >= LEAST_MS:
        if at - state.step > GAP_MS:
            state.held_up = at
        state.step = at

def on_inputs(setup, state, fact):
    """ "For each that is fitted and present: active is `bit != invert` (null: unknown), asked is `askedMs` (null, or later than `atMs`:
    never)." """
    at, asked = fact["atMs"], fact["askedMs"]
    for name, one in state.inputs.items():
        if setup[name] is not None and name in fact:
            one.active = None if fact[name] is None else fact[name] != setup[name]["invert"]
            one.asked = NEVER if asked is None or asked > at else asked
            if name == "motion" and one.active is not None:
                sample_motion(state, at, one.active)

def sample_motion(state, at, is_active):
    """ "A known sample: if `atMs - readMs > pulseMs`, `readSinceMs` becomes `atMs`; then `readMs` becomes `atMs`. An active one also: if
    `atMs - activeMs > pulseMs`, `activeSinceMs` becomes `atMs`; then `activeMs` becomes `atMs`." """
    if at - state.read > PULSE_MS:
        state.read_since = at
    state.read = at
    if is_active:
        if at - state.active > PULSE_MS:
            state.active_since = at
        state.active = at

def on_relays(_setup, state, fact):
    """ "`warning` present: true keeps the start of its sound, or starts it at `atMs`; anything else ends it; the reading is of `atMs`. For
    `enginecutoff` and then `cargoaccess`, if true or false" """
    at = fact["atMs"]
    if "warning" in fact:
        start = at if state.warning_since is None else state.warning_since
        state.warning_read, state.warning_since = at, start if fact["warning"] is True else None
    for feature in FEATURES:
        if fact.get(feature) is not None:
            on_reading(state, feature, at, fact[feature])

def on_reading(state, feature, at, is_closed):
    """The numbered rules of **Relays**."""
    relay, order, before = state.relays[feature], state.orders.get(feature), state.relays[feature].reading
    # "`atMs` is a *closing*, unless the relay was tried at most `carriedMs` ago: the try counts for it."
    if is_closed and before is not True and at - relay.tried > CARRIED_MS:
        keep_closing(relay, at)
    # "`sinceMs` is `atMs` unless the reading before was the same."
    if before is not is_closed:
        relay.since = at
    relay.reading = is_closed
    # "`cargoaccess` went from true to false: its order is dropped. It is never carried out."
    if feature == "cargoaccess":
        if before is True and not is_closed:
            state.orders.pop(feature, None)
    elif order is not None and is_closed and is_carried_out(relay, order, at):
        order.is_carried = True

def is_carried_out(relay, order, at):
    """ "`sinceMs` is before the monotonic end of its life, a permit was given for it, and at least `carriedMs` have passed since `sinceMs`
    and since the newest permit for it." """
    is_permitted = order.permit is not None and at - order.permit >= CARRIED_MS
    return is_permitted and relay.since < order.end and at - relay.since >= CARRIED_MS

def keep_closing(relay, at):
    """ "Of closings and tries of each relay the newest `perHour` are kept." """
    relay.closings = (*relay.closings, at)[-PER_HOUR:]

def on_sign(_setup, state, fact):
    """ "Null changes nothing ... Else its sign is of `atMs` if `value` is at least its limit, and of never if not." """
    if fact["value"] is not None:
        state.signs[fact["of"]] = fact["atMs"] if fact["value"] >= SIGNS[fact["of"]][0] else NEVER

def on_speed(_setup, state, fact):
    """ "If `isFix` is not null and `kmh > movingKmh`: `fastMs` becomes `atMs`. An `RMC` replaces the fix: `kmh` if `isFix` is true, else
    null." """
    at, kmh, is_fix = fact["atMs"], fact["kmh"], fact["isFix"]
    if is_fix is not None and kmh is not None and kmh > MOVING_KMH:
        state.fast = at
    if fact["of"] == "RMC":
        state.fix_at, state.fix_kmh = at, kmh if is_fix else None

def on_clock(_setup, state, fact):
    """ "Replaces the last one, unless that is signed and this is not." """
    if state.clock is None or fact["isSigned"] or not state.clock["isSigned"]:
        state.clock = fact

def on_grants(_setup, state, fact):
    """ "Replaces the list." """
    state.grants = fact["grants"]

def on_owner(_setup, state, fact):
    """ "`list`: the persons of the owner's document in force (null: none). Replaces the list." """
    state.persons = fact["list"]

def on_order(setup, state, fact):
    """ "once a step was counted, a proof with an origin other than `new` changes nothing ... An invalid proof changes nothing, nor does one
    of origin `carried` for `cargoaccess`." """
    origin = fact["origin"]
    order = ORDERS[fact["proof"]["kind"]](setup, fact["proof"], fact["atMs"], origin)
    is_late = state.step != NEVER and origin != "new"
    if order is None or is_late or (origin == "carried" and order.body["feature"] == "cargoaccess"):
        return
    feature = order.body["feature"]
    before = state.orders.get(feature)
    if order.kind == "broker" and ends_early(state, order, before, origin):
        return
    # "A `zone` order changes nothing while a `broker` order that is not carried out stands."
    if order.kind == "zone" and before is not None and before.kind == "broker" and not before.is_carried:
        return
    # "If the order before had the same id, the earlier one of both monotonic ends counts."
    if before is not None and before.id == order.id:
        order.end = min(order.end, before.end)
    state.orders[feature] = order

def broker_order(setup, proof, at, origin):
    """ "It is invalid if the signature or the form is wrong, or account or device is another, or `origin` is `new` and the boot is another.
    Its id is `commandID`. Its life ends at `atMs + (expiresMs - issuedMs)`, and ... at `expiresMs` by UTC." """
    body = body_of(setup, proof["token"])
    names = ("accountID", "deviceID", "boot") if origin == "new" else ("accountID", "deviceID")
    if body is None or any(body[name] != setup[name] for name in names):
        return None
    return Order("broker", body, body["commandID"], at + body["expiresMs"] - body["issuedMs"], body["expiresMs"], origin)

def body_of(setup, token):
    """ "There a token is `good.` and the body as JSON; any other token is a bad signature." "`hasKey` false: ... no token is valid" """
    try:
        body = json.loads(token[5:]) if token.startswith("good.") and setup.get("hasKey", True) else None
    except ValueError:
        return None
    return body if isinstance(body, dict) and has_form(body) else None

def has_form(body):
    """ "decoded to the body of the command (`src/core/wire/wire.ts`). It is invalid if ... the form is wrong". The syntax of ids is left out. """
    texts = all(isinstance(body.get(name), str) for name in ("accountID", "deviceID", "commandID", "boot", "reason", "issuer"))
    counts = all(type(body.get(name)) is int and 0 <= body[name] < 2**53 for name in ("counter", "issuedMs", "expiresMs"))
    named = body.get("feature") in FEATURES and body.get("state") in ("0", "1") and body.get("mode") == "interlock"
    return texts and counts and named and type(body.get("cancel")) is bool and body["expiresMs"] >= body["issuedMs"]

def zone_order(_setup, proof, at, origin):
    """ "id is `feature to zoneID`. Its life ends a day after `atMs`, and ... at `untilMs` by UTC." """
    name = f"{proof['feature']} {proof['to']} {proof['zoneID']}"
    return Order("zone", proof, name, at + ZONE_LIFE_MS, proof["untilMs"], origin)

def attended_order(_setup, proof, at, origin):
    """ "id is the text of `agreedMs`. Its life ends 125000 after `agreedMs`. With another origin than `new`, or with an `agreedMs` later
    than `atMs`, it is invalid." """
    agreed = proof["agreedMs"]
    is_valid = origin == "new" and agreed <= at
    return Order("attended", proof, json.dumps(agreed), agreed + TYPED_LIFE_MS, None, origin) if is_valid else None

def ends_early(state, order, before, origin):
    """True for a command after which "nothing else follows"."""
    # "A `broker` order with `origin` `new` and a counter that is not above the highest one seen (0 at first) changes nothing."
    body = order.body
    if origin == "new" and body["counter"] <= state.counter:
        return True
    # "A `broker` order raises the highest counter to its own, of any origin."
    state.counter = max(state.counter, body["counter"])
    # "A body with `cancel` drops the order of its feature if that has its id and is not carried out"; "A body with state `0` drops the
    # order of its feature"
    is_meant = before is not None and before.id == order.id and not before.is_carried
    if is_meant if body["cancel"] else body["state"] == "0":
        state.orders.pop(body["feature"], None)
    return body["cancel"] or body["state"] == "0"

ORDERS = {"broker": broker_order, "zone": zone_order, "attended": attended_order}
FACTS = {"step": on_step, "inputs": on_inputs, "relays": on_relays, "sign": on_sign, "speed": on_speed, "clock": on_clock,
         "grants": on_grants, "owner": on_owner, "order": on_order}

def reached_outputs(setup, unit):
    """ "A write *reaches* the outputs of its unit. One to unit 0, which all units take, reaches every output that has a feature, and no
    other." """
    return [one for one in setup["outputs"] if (one["feature"] is not None if unit == 0 else one["unit"] == unit)]

def written(request):
    """Value by address. "Only the members of the kind that is listed above are read. A write without its `first` or `address` is of
    address 0. One without its `on`, `value` or `values` may close what is there." """
    if request["kind"] in ("writeCoils", "writeRegisters"):
        return dict(enumerate(request.get("values", [None]), request.get("first", 0)))
    return {request.get("address", 0): request.get({"writeCoil": "on", "writeRegister": "value"}.get(request["kind"]))}

def touches(request, output, address):
    """ "if it writes one of its addresses in its address space: coils for `writeCoil`, `pulseCoil` and `writeCoils` if `off` is null,
    registers for the other two if it is not." """
    is_register = request["kind"] in ("writeRegister", "writeRegisters")
    return is_register is (output["off"] is not None) and address in output["addresses"]

def may_close(output, value):
    """ "if the value there is anything but false (coil) or `off` (register). `pulseCoil` always may, and a request of a kind that is not
    listed above." "-1: no value opens it" """
    is_off = type(value) is not bool and value == output["off"] != -1
    return value is not False if output["off"] is None else not is_off

def refusals_of(setup, state, ask):
    """**Questions**: the names of the refusals; an empty list is a permit."""
    request, now = ask["request"], ask["nowMs"]
    reached = reached_outputs(setup, request["unit"])
    # "A write that reaches no output with a feature is answered with `{"permit": true}`"; so is "a read"
    if request["kind"] in ("readBits", "readRegisters") or all(one["feature"] is None for one in reached):
        return []
    values = written(request)
    touched = [(one, address) for one in reached for address in values if touches(request, one, address)]
    # "A write of an address at which it touches nothing is answered with ... `fault`"; "A write to unit 0 is too, if it touches nothing
    # there on one of the units that it reaches."
    if {(one["unit"], address) for one, address in touched} != {(one["unit"], address) for one in reached for address in values}:
        return ["fault"]
    relays = {id(one): one["feature"] for one, _ in touched if one["feature"] is not None}
    if not any(one["feature"] is not None and may_close(one, values[address]) for one, address in touched):
        # "each relay of a feature that it touches loses its order if that is carried out."
        for feature in state.orders.keys() & set(relays.values()):
            if state.orders[feature].is_carried:
                del state.orders[feature]
        return []
    # "A request that may close a relay and touches more than one output that has a feature is answered with `fault`. So is one whose
    # `isAllowed` throws."
    if len(relays) > 1 or ask["isAllowed"] == "throw":
        return ["fault"]
    feature = next(iter(relays.values()))
    terms = Terms(setup, state, feature, now, ask["isAllowed"])
    if not (refusals := [name for name, holds in CONDITIONS.items() if not holds(terms)]):
        give_permit(state.relays[feature], state.orders[feature], now)
    return refusals

def give_permit(relay, order, now):
    """ "the order and its relay have a permit of `nowMs`"; "A permit for a relay that was not tried within the last `tryMs`
    (`nowMs - triedMs >= tryMs`, or never) is a new *try*: `triedMs` is `nowMs`, and counts as a closing" """
    order.permit = now
    if now - relay.tried >= TRY_MS:
        relay.tried = now
        keep_closing(relay, now)

class Terms:
    """ "On closing the relay of `feature` at `nowMs`. First some terms" """

    def __init__(self, setup, state, feature, now, verdict):
        self.setup, self.state, self.feature, self.now, self.is_allowed = setup, state, feature, now, verdict
        self.is_cargo, self.order = feature == "cargoaccess", state.orders.get(feature)
        self.kind = None if self.order is None else self.order.kind
        self.key, motion = state.inputs["ignition"].active, state.inputs["motion"].active
        # "the last RMC had a speed of a measured mode and is young within `fixMs`."
        self.has_fix = state.fix_kmh is not None and now - state.fix_at <= FIX_MS
        # "fix, and `nowMs - activeSinceMs >= stuckMs`, and `fastMs < activeSinceMs`."
        is_stuck = self.has_fix and now - state.active_since >= STUCK_MS and state.fast < state.active_since
        # "(motion is active, or `nowMs - activeMs <= pulseMs`), and not stuck."
        self.is_moved = (motion is True or now - state.active <= PULSE_MS) and not is_stuck
        # "motion is known and not active, and not moved."
        self.is_quiet = motion is False and not self.is_moved
        # "quiet, and `nowMs - max(readSinceMs, activeMs) >= quietMs`."
        self.is_rested = self.is_quiet and now - max(state.read_since, state.active) >= QUIET_MS
        # "the `askedMs` of each of ignition and motion that is known now (true or false)."
        self.asked = [one.asked for one in state.inputs.values() if one.active is not None]

    def is_warned(self):
        """ "the warning output was read within `warningMs` of the limits, sounds, and has sounded for `warningMs` of the set-up." """
        since, least = self.state.warning_since, self.setup["warningMs"]
        is_read = self.now - self.state.warning_read <= WARNING_MS
        return is_read and since is not None and least is not None and self.now - since >= least

    def is_shown(self, name):
        """ "a sign that is young within its time." """
        return self.now - self.state.signs[name] <= SIGNS[name][1]

    def now_utc(self):
        """ "the last clock plus the time since; later than any life if there is none." """
        clock = self.state.clock
        return inf if clock is None else clock["utcMs"] + self.now - clock["atMs"]

    def is_agreed(self):
        """ "the time is before `validUntilMs` and before `expiresMs` of the order, the `credential` of each of its `assertions` is among
        `persons`, and they are at least as many different ones as `needed` says"; "at now by UTC; for an order that is carried out 1 ms
        before its `expiresMs`" """
        persons, body = self.state.persons, self.order.body
        time = body["expiresMs"] - 1 if self.order.is_carried else self.now_utc()
        if persons is None or time >= min(persons["validUntilMs"], body["expiresMs"]):
            return False
        by = {one["credential"] for one in body.get("assertions", [])}
        return by <= set(persons["persons"]) and len(by) >= persons["needed"][self.feature]

def has_order(terms):
    """ "There is an order. With `hasOwner`: it is of the kind `broker`, and agreed. Else, one of a geozone: its id is among the grants, and
    for `enginecutoff` the installer's `zoneCuts` is set" """
    if terms.setup["hasOwner"]:
        return terms.kind == "broker" and terms.is_agreed()
    if terms.kind == "zone":
        return terms.order.id in terms.state.grants and (terms.is_cargo or terms.setup["zoneCuts"])
    return terms.kind is not None

def is_unexpired(terms):
    """ "There is an order. It is carried out, or `nowMs` is before its end and now by UTC is before its end by UTC, if it has one" """
    order = terms.order
    if order is None or order.is_carried:
        return order is not None
    return terms.now < order.end and (order.end_utc is None or terms.now_utc() < order.end_utc)

def is_without_holdup(terms):
    """ "`nowMs` is not before `newestMs`, and at most `gapMs` after the last counted step; each of asked is not before `heldUpMs`; and if
    there is a fix, `fix.atMs - unreadMs >= heldUpMs`" """
    state, now = terms.state, terms.now
    is_fix_since = not terms.has_fix or state.fix_at - UNREAD_MS >= state.held_up
    is_since = is_fix_since and all(one >= state.held_up for one in terms.asked)
    return is_since and state.newest <= now <= state.step + GAP_MS

def has_key(terms):
    """ "The key reads off. Or fix and quiet, and: for `cargoaccess` the order is not `attended`; for `enginecutoff` the key reads on,
    warned, and the order is `broker` and not carried out" """
    if terms.key is False:
        return True
    if terms.is_cargo:
        return terms.has_fix and terms.is_quiet and terms.kind != "attended"
    is_warned_cut = terms.key is True and terms.is_warned() and terms.kind == "broker" and not terms.order.is_carried
    return terms.has_fix and terms.is_quiet and is_warned_cut

def has_place(terms):
    """ "Fix. Or the key reads off, and: the order is `attended`, or the installer's `mayLackFix` is set and rested" """
    return terms.has_fix or (terms.key is False and (terms.kind == "attended" or (terms.setup["mayLackFix"] and terms.is_rested)))

def is_in_pace(terms):
    """ "Of the closings and tries that are kept, without the try that began less than `tryMs` ago: each is at least `betweenMs` ago; and
    they are fewer than `perHour`, or the oldest is at least `hourMs` ago" """
    relay, now = terms.state.relays[terms.feature], terms.now
    kept = [one for one in relay.closings if now - relay.tried >= TRY_MS or one != relay.tried]
    return all(now - one >= BETWEEN_MS for one in kept) and (len(kept) < PER_HOUR or now - kept[0] >= HOUR_MS)

CONDITIONS = {
    "order": has_order,
    "expiry": is_unexpired,
    "inputs": lambda terms: all(terms.now - one <= INPUT_MS for one in terms.asked),  # "`nowMs - askedMs <= inputMs` for each of asked"
    "holdup": is_without_holdup,
    "key": has_key,
    "motion": lambda terms: not terms.is_moved,  # "Not moved"
    "speed": lambda terms: terms.now - terms.state.fast > FIX_MS,  # "`nowMs - fastMs > fixMs`"
    "place": has_place,
    # "The feature is `cargoaccess`, or the key reads on, or neither `rpm` nor `busRpm` is shown"
    "engine": lambda terms: terms.is_cargo or terms.key is True or not (terms.is_shown("rpm") or terms.is_shown("busRpm")),
    "bus": lambda terms: not terms.is_shown("busKmh"),  # "`busKmh` is not shown"
    "pace": is_in_pace,
    "interlock": lambda terms: terms.is_allowed is True,  # "`isAllowed`"
}

def main():
    """ "first a `setup`, and prints one answer for each question. A further `setup` starts anew." """
    setup, state = None, None
    for line in map(json.loads, sys.stdin):
        if "setup" in line:
            setup, state = line["setup"], State()
        elif "fact" in line:
            state.newest = max(state.newest, line["fact"]["atMs"])  # "`newestMs` is the greatest `atMs` of all of them."
            FACTS[line["fact"]["kind"]](setup, state, line["fact"])
        else:
            refusals = refusals_of(setup, state, line["ask"])
            print(json.dumps({"permit": False, "refusals": refusals} if refusals else {"permit": True}, separators=(",", ":")))

main()
