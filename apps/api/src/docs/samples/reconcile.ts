interface Event {
  event_id: string
  event_type: string
  emitted_at: string
}

/** Reads every event since the stored checkpoint, page by page. Run it every 15 minutes. */
export async function reconcile(
  api: { baseUrl: string; key: string },
  checkpoint: string,
  store: (events: Event[], checkpoint: string) => Promise<void>,
): Promise<void> {
  const url = new URL(`${api.baseUrl}/v1/partners/consumer/events`)
  url.searchParams.set("since", checkpoint)
  url.searchParams.set("limit", "500")
  for (;;) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${api.key}` } })
    if (!response.ok) throw new Error(`${response.status}, request ${response.headers.get("X-Request-Id")}`)
    const page = (await response.json()) as { data: Event[]; next_cursor: string | null }

    // In one transaction: the events with new event_ids, and the checkpoint.
    checkpoint = page.data.at(-1)?.emitted_at ?? checkpoint
    await store(page.data, checkpoint)
    if (page.next_cursor === null) return
    url.searchParams.set("cursor", page.next_cursor)
  }
}
