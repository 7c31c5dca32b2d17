import { adapters } from "@outreach/postgres/adapters"
import { Layer } from "effect"
import { database } from "./database.ts"
import { lazyCipher } from "./secretCipher.ts"

/** The services of all commands. Without a fitting key, a command fails when it encrypts or decrypts. */
export const services = Layer.provide(adapters, lazyCipher).pipe(Layer.provideMerge(database))
