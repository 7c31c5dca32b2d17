import { Layer } from "effect"
import { CampaignRepositoryPg } from "./campaigns/CampaignRepositoryPg.ts"
import { DeliveryRepositoryPg } from "./deliveries/DeliveryRepositoryPg.ts"
import { EndpointRepositoryPg } from "./deliveries/EndpointRepositoryPg.ts"
import { ReplayJobQueuePg } from "./deliveries/ReplayJobQueuePg.ts"
import { SigningSecretRepositoryPg } from "./deliveries/SigningSecretRepositoryPg.ts"
import { DigestRepositoryPg } from "./digest/DigestRepositoryPg.ts"
import { ErasureRepositoryPg } from "./erasure/ErasureRepositoryPg.ts"
import { EventPublisherPg } from "./events/EventPublisherPg.ts"
import { HintsPg } from "./events/HintsPg.ts"
import { InboxRepositoryPg } from "./inbox/InboxRepositoryPg.ts"
import { FactReader } from "./operators/FactReader.ts"
import { OperatorRepositoryPg } from "./operators/OperatorRepositoryPg.ts"
import { ApiKeyRepositoryPg } from "./organizations/ApiKeyRepositoryPg.ts"
import { OrganizationRepositoryPg } from "./organizations/OrganizationRepositoryPg.ts"
import { Partitions } from "./Partitions.ts"
import { ProgramRepositoryPg } from "./programs/ProgramRepositoryPg.ts"
import { RecipientRepositoryPg } from "./recipients/RecipientRepositoryPg.ts"
import { RestoreRepositoryPg } from "./restores/RestoreRepositoryPg.ts"
import { LinkDomainRepositoryPg } from "./senders/LinkDomainRepositoryPg.ts"
import { SenderRepositoryPg } from "./senders/SenderRepositoryPg.ts"
import { ErasedClinicianRepositoryPg } from "./suppressions/ErasedClinicianRepositoryPg.ts"
import { SuppressionRepositoryPg } from "./suppressions/SuppressionRepositoryPg.ts"
import { WithdrawalRepositoryPg } from "./suppressions/WithdrawalRepositoryPg.ts"

/** The adapters of the ports of operators' operations. Requires the database, the deployment and the cipher. */
export const repositories = Layer.mergeAll(
  OrganizationRepositoryPg,
  ApiKeyRepositoryPg,
  OperatorRepositoryPg,
  ProgramRepositoryPg,
  CampaignRepositoryPg,
  RecipientRepositoryPg,
  DigestRepositoryPg,
  EndpointRepositoryPg,
  SigningSecretRepositoryPg,
  DeliveryRepositoryPg,
  Partitions.layer,
  FactReader.layer,
  ReplayJobQueuePg,
  SenderRepositoryPg,
  LinkDomainRepositoryPg,
  InboxRepositoryPg,
  SuppressionRepositoryPg,
  WithdrawalRepositoryPg,
  RestoreRepositoryPg,
  ErasureRepositoryPg,
  EventPublisherPg,
).pipe(Layer.provideMerge(ErasedClinicianRepositoryPg), Layer.provideMerge(HintsPg))
