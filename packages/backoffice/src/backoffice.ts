import { PersonalDataFinder } from "@outreach/postgres/erasure/PersonalDataFinder"
import { Layer } from "effect"
import { CampaignReader } from "./campaigns/CampaignReader.ts"
import { SendingReader } from "./campaigns/SendingReader.ts"
import { DeadLetterReader } from "./deliveries/DeadLetterReader.ts"
import { DeliveryOutcomeReader } from "./deliveries/DeliveryOutcomeReader.ts"
import { DeliveryReader } from "./deliveries/DeliveryReader.ts"
import { EventDeliveries } from "./deliveries/EventDeliveries.ts"
import { FailureGroupReader } from "./deliveries/FailureGroupReader.ts"
import { ReplayReader } from "./deliveries/ReplayReader.ts"
import { DigestReader } from "./digest/DigestReader.ts"
import { PersonalDataReader } from "./erasure/PersonalDataReader.ts"
import { EventReader } from "./events/EventReader.ts"
import { InboxReader } from "./inbox/InboxReader.ts"
import { DatabaseInspection } from "./inspection/DatabaseInspection.ts"
import { NumbersReader } from "./numbers/NumbersReader.ts"
import { AuditChain } from "./operators/AuditChain.ts"
import { AuditLog } from "./operators/AuditLog.ts"
import { ObjectFinder } from "./operators/ObjectFinder.ts"
import { OrganizationReader } from "./organizations/OrganizationReader.ts"
import { ProgramReader } from "./programs/ProgramReader.ts"
import { ImportLog } from "./recipients/ImportLog.ts"
import { LineComparison } from "./recipients/LineComparison.ts"
import { OutcomeReader } from "./recipients/OutcomeReader.ts"
import { TimelineReader } from "./recipients/TimelineReader.ts"
import { SuppressionReader } from "./suppressions/SuppressionReader.ts"
import { TodayReader } from "./today/TodayReader.ts"

/** All services of this package. They need the adapters of `@outreach/postgres` and the database. */
export const backoffice = Layer.mergeAll(
  CampaignReader.layer,
  SendingReader.layer,
  DeadLetterReader.layer,
  DeliveryOutcomeReader.layer,
  EventDeliveries.layer,
  FailureGroupReader.layer,
  ReplayReader.layer,
  DigestReader.layer,
  Layer.provide(PersonalDataReader.layer, PersonalDataFinder.layer),
  EventReader.layer,
  InboxReader.layer,
  DatabaseInspection.layer,
  NumbersReader.layer,
  AuditLog.layer,
  AuditChain.layer,
  ObjectFinder.layer,
  OrganizationReader.layer,
  ImportLog.layer,
  LineComparison.layer,
  OutcomeReader.layer,
  ProgramReader.layer,
  TimelineReader.layer,
  SuppressionReader.layer,
  TodayReader.layer,
).pipe(Layer.provideMerge(DeliveryReader.layer))
