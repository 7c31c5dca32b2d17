import { HeldDataReader } from "@outreach/backoffice/erasure/HeldDataReader"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ErasureRepositoryPg } from "@outreach/postgres/erasure/ErasureRepositoryPg"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Layer } from "effect"
import { Command } from "effect/cli"
import { erase } from "../clinicians/erase.ts"
import { exportData } from "../clinicians/exportData.ts"
import { lazyCipher, secretCipher } from "../secretCipher.ts"

const exportServices = ErasureRepositoryPg.pipe(
  Layer.provideMerge(ErasedClinicianRepositoryPg),
  Layer.provide(lazyCipher),
  Layer.merge(HeldDataReader.layer),
)

const eraseServices = ErasureRepositoryPg.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      DigestRepositoryPg,
      ErasedClinicianRepositoryPg,
      InboxRepositoryPg,
      ProgramRepositoryPg,
      RecipientRepositoryPg,
      SuppressionRepositoryPg,
      TransactionPg,
      WithdrawalRepositoryPg,
    ),
  ),
  Layer.provide(secretCipher),
)

/** `ops clinicians …` */
export const clinicians = Command.make("clinicians").pipe(
  Command.withDescription("What is held on a clinician"),
  Command.withSubcommands([
    exportData.pipe(Command.provide(exportServices)),
    erase.pipe(Command.provide(eraseServices)),
  ]),
)
