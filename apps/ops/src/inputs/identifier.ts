import { type Identifier, isIdentifier, type Kind, PREFIXES } from "@outreach/domain/Identifier"
import { Option } from "effect"

/** Parses an id of a kind. Spread the result into `filterMap` of a flag or an argument. */
export const identifier = <K extends Kind>(kind: K) =>
  [
    (text: string): Option.Option<Identifier<K>> => (isIdentifier(kind, text) ? Option.some(text) : Option.none()),
    () => `the id of a ${kind}: ${PREFIXES[kind]}_ and 32 hex digits`,
  ] as const
