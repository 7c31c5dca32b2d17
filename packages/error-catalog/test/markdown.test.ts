import { describe, expect, it } from "vitest"
import { markdown } from "../src/markdown.ts"
import { payments } from "./payments.ts"

describe("the page of codes", () => {
  it("has the types, links to the codes, and a section with an anchor for each code", () => {
    expect(markdown(payments)).toBe(`## Types

Branch on the type, so that you also handle codes that are added later.

| type | status | retry |
| --- | --- | --- |
| \`payment\` | 402 | No: something has to change first |
| \`gateway\` | 500, 502 | Yes, with exponential backoff |
| \`limit\` | 429 | Yes, once Retry-After has passed |

## Codes

- [CARD_DECLINED](#CARD_DECLINED)
- [GATEWAY_DOWN](#GATEWAY_DOWN)
- [TOO_MANY](#TOO_MANY)
- [INTERNAL](#INTERNAL)

### <a id="CARD_DECLINED"></a>\`CARD_DECLINED\`

- **Status**: 402
- **Type**: \`payment\`
- **Retry**: No: something has to change first
- **When**: The card was declined.
- **What to do**: Ask for another card.

### <a id="GATEWAY_DOWN"></a>\`GATEWAY_DOWN\`

- **Status**: 502
- **Type**: \`gateway\`
- **Retry**: Yes, with exponential backoff
- **When**: The gateway does not respond

### <a id="TOO_MANY"></a>\`TOO_MANY\`

- **Status**: 429
- **Type**: \`limit\`
- **Retry**: Yes, once Retry-After has passed
- **When**: Too many requests.

### <a id="INTERNAL"></a>\`INTERNAL\`

- **Status**: 500
- **Type**: \`gateway\`
- **Retry**: Yes, with exponential backoff
- **When**: Something went wrong.
`)
  })

  it("comes in parts too, with ids and rows of its reader", () => {
    expect(markdown(payments, { part: "types" })).toMatch(/^\| type .*\|$/s)
    expect(markdown(payments, { part: "index", anchor: (code) => `pay-${code}` })).toMatch(
      /^- \[CARD_DECLINED\]\(#pay-CARD_DECLINED\)\n/,
    )
    const codes = markdown(payments, {
      part: "codes",
      anchor: (code) => code.toLowerCase(),
      rows: (code, { Status = "" }) => ({ Status, Owner: code === "INTERNAL" ? "us,\n- not you" : "you" }),
    })
    expect(codes).toContain('### <a id="gateway_down"></a>`GATEWAY_DOWN`\n\n- **Status**: 502\n- **Owner**: you\n\n###')
    expect(codes).toMatch(/- \*\*Owner\*\*: us, - not you$/)
  })
})
