import type { CampaignStatus } from "@outreach/domain/campaigns/Campaign"
import { StatusBadge, type Tone } from "../../components/values.tsx"

const TONES: Readonly<Record<CampaignStatus, Tone>> = {
  draft: "neutral",
  scheduled: "neutral",
  publishing: "neutral",
  published: "neutral",
  sending: "good",
  completed: "neutral",
  paused: "warning",
  cancelled: "neutral",
}

export const CampaignStatusBadge = ({ status }: { readonly status: CampaignStatus }) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
)
