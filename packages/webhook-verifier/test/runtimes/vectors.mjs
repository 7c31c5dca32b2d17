// Runs in every runtime, so it uses nothing but the language, and what it is given.

/** Verifies every outside vector, a whole event, and a request through the adapter of Fetch; answers how many checks held. */
export async function checkVectors(
  { createWebhookVerifier, WebhookVerificationError, sampleEvent, signWebhook },
  webhookHandler,
  { cases, signed },
) {
  let held = 0
  const hold = (truth, what) => {
    if (!truth) throw new Error(`${what} does not hold`)
    held += 1
  }
  const answer = (verifier, request) =>
    verifier.verify(request).then(
      (event) => event.event_type,
      (error) => (error instanceof WebhookVerificationError ? error.code : `another error: ${error}`),
    )
  for (const { secret, timestamp, body_base64, v1 } of cases) {
    const verifier = createWebhookVerifier({ secrets: ["another", secret], now: () => timestamp })
    const body = Uint8Array.from(atob(body_base64), (character) => character.charCodeAt(0))
    const verify = (entry) => answer(verifier, { headers: { "X-Signature": `t=${timestamp},v1=${entry}` }, body })
    // No vector is an event: the first refusal after the signature shows that the signature was good.
    hold(["invalid_json", "not_an_event"].includes(await verify(v1)), `vector ${v1}`)
    hold(
      (await verify(v1.replace(/^./, (digit) => (digit === "0" ? "1" : "0")))) === "no_match",
      `another than vector ${v1}`,
    )
  }
  const verifier = createWebhookVerifier({ secrets: [signed.secret], now: () => signed.timestamp })
  const sample = await signWebhook(sampleEvent(signed.type), [signed.secret], signed)
  hold((await answer(verifier, sample)) === signed.type, "a sample")
  const request = (body) => new Request("https://partner.test/", { method: "POST", headers: signed.headers, body })
  hold(
    (await answer(verifier, { headers: new Headers(signed.headers), body: signed.body })) === signed.type,
    "an event",
  )
  hold((await answer(verifier, request(signed.body))) === signed.type, "a Request")
  hold((await answer(verifier, { headers: signed.headers, body: "\ud800" })) === "malformed_body", "a lone surrogate")
  const handler = webhookHandler(verifier, () => {}, { onError: () => {} })
  hold((await handler(request(signed.body))).status === 200, "an acknowledgement")
  hold((await handler(request(`${signed.body} `))).status === 401, "a refusal")
  return held
}
