# Renders the templates of a discovery message as Home Assistant does, with Jinja2: reads {"config", "state"} as JSON, answers what each
# entity becomes, and whether it is available.
import json
import sys

from jinja2 import Environment

asked = json.load(sys.stdin)
config, state = asked["config"], asked["state"]
environment = Environment()


def render(template):
    return environment.from_string(template).render(value_json=state)


def value_of(entity):
    return render(entity.get("value_template") or entity["json_attributes_template"])


json.dump(
    {
        "values": {name: value_of(entity) for name, entity in config["components"].items()},
        "availability": [render(one["value_template"]) for one in config["availability"] if "value_template" in one],
    },
    sys.stdout,
)
