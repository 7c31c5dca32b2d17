import json
from urllib.parse import urlencode
from urllib.request import Request, urlopen


def reconcile(base_url, key, checkpoint, store):
    """Read every event since the checkpoint that was stored last, page by page.

    Run it every 15 minutes. HTTPError says which status a refused request got.
    """
    query = {"since": checkpoint, "limit": 500}
    while True:
        url = f"{base_url}/v1/partners/consumer/events?{urlencode(query)}"
        with urlopen(Request(url, headers={"Authorization": f"Bearer {key}"}), timeout=30) as response:
            page = json.load(response)

        # In one transaction: the events that are new by their event_id, and how far you are.
        if page["data"]:
            checkpoint = page["data"][-1]["emitted_at"]
        store(page["data"], checkpoint)
        if page["next_cursor"] is None:
            return
        query["cursor"] = page["next_cursor"]
