import type { RecipientId } from "@outreach/domain/Identifier"
import { Effect, FileSystem, Stream } from "effect"
import { type Refusal, refusal } from "../output/refuse.ts"

// The left-hand side of a Message-ID of this service is a recipient's id. Postfix writes `message-id=<…>`, Exim `id=…`; a list has one a line.
const MESSAGE_ID = /(?:^|\bmessage-id=|\bid=)\s*<?(rcp_[0-9a-f]{32})@/i

/** Reads the recipients whose messages a mail server's log names, each once, in the order of the log. */
export const readMailLog = (file: string): Stream.Stream<RecipientId, Refusal, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, ({ stream }) => {
      const seen = new Set<string>()
      return stream(file).pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.map((line) => MESSAGE_ID.exec(line)?.[1]?.toLowerCase()),
        Stream.filter((id): id is RecipientId => id !== undefined && !seen.has(id) && seen.add(id) !== undefined),
        Stream.mapError(() =>
          refusal("MailLogUnreadable", `The log ${file} does not exist, or cannot be read.`, { file }),
        ),
      )
    }),
  )
