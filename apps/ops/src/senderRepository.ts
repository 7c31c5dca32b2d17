import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { Layer } from "effect"
import { lazyCipher } from "./secretCipher.ts"

/** The target's senders. Only what encrypts or reads their keys needs `SECRETS_KEY`. */
export const senderRepository = Layer.provide(SenderRepositoryPg, lazyCipher)
