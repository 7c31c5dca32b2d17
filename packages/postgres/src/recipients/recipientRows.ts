import { Recipient } from "@outreach/domain/recipients/Recipient"
import { rowsOf } from "../rowsOf.ts"

// CPU time in microseconds from rows to JSON bytes, for a page of 100 recipients with 24 pages in flight:
//
//                                                   process   PostgreSQL
//   rows as objects by column name, JSON.stringify    846         450
//   rows as arrays, JSON from a template               690         400
//   JSON of each row concatenated in SQL               640        1150
//   JSON of the page aggregated in SQL                 500        1250
// all except the times concatenated in SQL           690         675
//   json_build_object                                  745        1600
//
// The adapter still creates an object per row, because the port requires it: 725, compared with 796 for objects from the driver, in a separate run.
// The difference is mostly to_char: formatting a row's times costs PostgreSQL more than the whole row costs the process.

/** The columns of a recipient, with the decoder and the undecoded conversion for pages. */
export const { columns: recipientColumns, decode: decodeRecipients, fromValues: recipientOf } = rowsOf(Recipient)
