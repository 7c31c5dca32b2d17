import { Settlements } from "@outreach/domain/mail/Settlements"
import { Layer } from "effect"
import { ClockWatch } from "./ClockWatch.ts"
import { CampaignCounts } from "./campaigns/CampaignCounts.ts"
import { DeliveryLeasesPg } from "./deliveries/DeliveryLeasesPg.ts"
import { DeliveryOutcomes } from "./deliveries/DeliveryOutcomes.ts"
import { FailingEndpointRepositoryPg } from "./deliveries/FailingEndpointRepositoryPg.ts"
import { EventFeed } from "./events/EventFeed.ts"
import { HitRepositoryPg } from "./hits/HitRepositoryPg.ts"
import { IdempotencyRepositoryPg } from "./idempotency/IdempotencyRepositoryPg.ts"
import { BounceRepositoryPg } from "./mail/BounceRepositoryPg.ts"
import { MessageQueuePg } from "./mail/MessageQueuePg.ts"
import { repositories } from "./repositories.ts"
import { UnsubscriptionRepositoryPg } from "./suppressions/UnsubscriptionRepositoryPg.ts"
import { TransactionPg } from "./TransactionPg.ts"

/** All adapters of the domain's ports, their batch writers, and the queries of the processes. Requires the database, the deployment and the cipher. */
export const adapters = Layer.mergeAll(
  CampaignCounts.layer,
  EventFeed.layer,
  FailingEndpointRepositoryPg,
  DeliveryLeasesPg,
  DeliveryOutcomes.layer,
  ClockWatch.layer,
  Settlements.layer,
  BounceRepositoryPg,
  HitRepositoryPg,
  UnsubscriptionRepositoryPg,
  IdempotencyRepositoryPg,
).pipe(Layer.provideMerge(Layer.mergeAll(TransactionPg, MessageQueuePg, repositories)))
