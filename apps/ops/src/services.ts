import { repositories } from "@outreach/postgres/repositories"
import { Layer } from "effect"
import { database } from "./database.ts"
import { lazyCipher } from "./secretCipher.ts"

/** The services of all commands. Without a fitting key, a command fails when it encrypts or decrypts. */
export const services = Layer.provide(repositories, lazyCipher).pipe(Layer.provideMerge(database))
