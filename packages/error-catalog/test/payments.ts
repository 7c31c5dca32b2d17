import * as z from "zod"
import { defineCatalog } from "../src/defineCatalog.ts"
import { problemJson } from "../src/problemJson.ts"

/** The tables of another team, with nested details. */
export const tables = {
  types: { payment: { retry: "no" }, gateway: { retry: "backoff" }, limit: { retry: "after" } },
  codes: {
    CARD_DECLINED: {
      type: "payment",
      status: 402,
      title: "The card was declined.",
      advice: "Ask for another card.",
      details: z.object({
        reason: z.enum(["expired", "stolen"]),
        card: z.object({ brand: z.string(), last: z.array(z.number()) }).optional(),
        retryFrom: z.iso
          .datetime()
          .transform((text) => new Date(text))
          .optional(),
      }),
      example: { reason: "expired" },
    },
    GATEWAY_DOWN: { type: "gateway", status: 502, title: "The gateway does not respond" },
    TOO_MANY: { type: "limit", status: 429, title: "Too many requests.", headers: { "X-Limit": "100" } },
    INTERNAL: { type: "gateway", status: 500, title: "Something went wrong." },
  },
  docUrl: (code: string) => `https://pay.example/errors/${code}`,
  unknown: "INTERNAL",
} as const

export const payments = defineCatalog({ ...tables, envelope: problemJson })
