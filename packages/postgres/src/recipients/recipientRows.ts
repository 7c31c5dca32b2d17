import { Recipient } from "@outreach/domain/recipients/Recipient"
import { rowsOf } from "../rowsOf.ts"

// CPU of a page of 100 recipients until its JSON is bytes, in microseconds, with 24 pages in flight:
//
//                                                   process   PostgreSQL
//   rows as objects by column name, JSON.stringify    846         450
//   rows as arrays, JSON from a template               690         400
//   JSON of each row concatenated in SQL               640        1150
//   JSON of the page aggregated in SQL                 500        1250
//   all but the times concatenated in SQL              690         675
//   json_build_object                                  745        1600
//
// The adapter still makes a record of each row, which the port asks for: 725 against 796 for objects, in another run.
// to_char makes most of the difference: the times of a row cost PostgreSQL more than the whole row costs the process.

/** The columns of a recipient, and how their values become a recipient: decoded, or as they are for pages. */
export const { columns: recipientColumns, decode: decodeRecipients, fromValues: recipientOf } = rowsOf(Recipient)
