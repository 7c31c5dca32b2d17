/** Software that identifies itself in `User-Agent` and isn't a person's mail client. */
export interface ScannerAgent {
  readonly name: string
  readonly pattern: RegExp
  /** True if people open messages with it, but don't click. */
  readonly clicksOnly?: true
}

/** Networks of mail filters, in which nobody reads mail. */
export interface ScannerNetwork {
  readonly name: string
  readonly ranges: readonly string[]
}

/**
 * Scanners, link previewers and HTTP libraries by name.
 *
 * Excluded, because people read mail with them: Outlook itself (`Microsoft Outlook 16.0`, `ms-office`), image proxies (GoogleImageProxy,
 * YahooMailProxy), and okhttp, CFNetwork and Dalvik, which mail apps on phones use. Phones named CUBOT aren't bots.
 */
export const AGENTS: readonly ScannerAgent[] = [
  // Mail and link scanners.
  { name: "Barracuda", pattern: /barracuda/i },
  { name: "Proofpoint", pattern: /proofpoint/i },
  { name: "Mimecast", pattern: /mimecast/i },
  { name: "Cisco Secure Email", pattern: /ciscosecureemail|ironport/i },
  { name: "Trend Micro", pattern: /\btmes\b|trend ?micro/i },
  { name: "FortiMail", pattern: /fortimail/i },
  { name: "Safe Links", pattern: /safe ?links/i },
  // Mail apps on Windows load images with it, but people click in a browser. Internet Explorer 11 doesn't send MSIE.
  {
    name: "Internet Explorer 7 to 10",
    pattern: /^mozilla\/[45]\.0 \(compatible; msie (?!.*(?:outlook|office))/i,
    clicksOnly: true,
  },
  { name: "Google Safety", pattern: /google-safety/i },
  { name: "VirusTotal", pattern: /virustotal/i },
  { name: "Splunk Attack Analyzer", pattern: /twinwave/i },
  { name: "Cloudflare Radar", pattern: /cloudflare-?radar/i },
  { name: "Netcraft", pattern: /netcraft/i },
  { name: "ZGrab", pattern: /zgrab/i },

  // Link previews.
  { name: "Skype and Teams", pattern: /skypeuripreview/i },
  { name: "Microsoft and Bing preview", pattern: /(?:microsoft|bing)preview/i },
  { name: "Yahoo Link Preview", pattern: /yahoo link preview/i },
  { name: "Google Web Preview", pattern: /google web preview/i },
  { name: "Facebook", pattern: /facebookexternalhit|facebookcatalog|meta-externalagent/i },
  { name: "WhatsApp", pattern: /^whatsapp/i },
  { name: "Slack", pattern: /slack-imgproxy/i },
  { name: "Snapchat", pattern: /snap url preview|snapurlpreview/i },
  { name: "Embedly", pattern: /embedly/i },
  { name: "Iframely", pattern: /iframely/i },
  { name: "previews and unfurlers", pattern: /link-?preview|page-?preview|unfurl/i },
  { name: "Microsoft Office discovery", pattern: /microsoft office (?:existence|protocol) discovery/i },

  // Headless browsers.
  { name: "headless Chrome", pattern: /headlesschrome/i },
  { name: "PhantomJS", pattern: /phantomjs/i },
  { name: "Lighthouse", pattern: /chrome-lighthouse/i },

  // HTTP libraries and tools.
  { name: "curl", pattern: /^curl|libcurl|php-curl/i },
  { name: "Wget", pattern: /^wget/i },
  { name: "Python", pattern: /^python|python-(?:requests|urllib|httpx)|aiohttp\//i },
  { name: "Go", pattern: /^go-http-client|^go ?[\d.]+ package http/i },
  { name: "Perl", pattern: /libwww-perl|lwp::/i },
  { name: "Java", pattern: /^java\/|^apache-httpclient|^jakarta commons/i },
  { name: "Ruby", pattern: /^ruby|^faraday/i },
  { name: "Node", pattern: /^axios|^node-fetch|^undici|^node$|^got /i },

  // Other agents that call themselves bots or crawlers.
  { name: "bots by their own account", pattern: /(?<!cu)bots?(?![a-z])|crawl|spider|link ?check|url ?scan/i },
  { name: "programs with a contact", pattern: /\+ ?(?:https?:|mailto:|www\.|[\w.]+@)/i },
]

/** Networks of mail-filtering services. Cloud networks in general are excluded: people work in them. */
export const NETWORKS: readonly ScannerNetwork[] = [
  {
    // Networks of Exchange Online are excluded: Outlook on the web loads images from them when a person opens a message.
    name: "Microsoft Defender for Office 365",
    ranges: [
      "40.92.0.0/15",
      "40.107.0.0/16",
      "52.100.0.0/14",
      "52.238.78.88/32",
      "104.47.0.0/17",
      "2a01:111:f400::/48",
      "2a01:111:f403::/48",
    ],
  },
  { name: "Microsoft Safe Links", ranges: ["40.94.0.0/16"] },
  { name: "Barracuda Email Gateway Defense", ranges: ["64.235.144.0/20", "209.222.80.0/21"] },
  {
    name: "Proofpoint's networks",
    ranges: ["62.209.50.0/24", "67.231.144.0/20", "91.209.104.0/24", "208.84.64.0/22", "208.86.200.0/22"],
  },
  {
    name: "Mimecast's networks",
    ranges: [
      "91.220.42.0/24",
      "146.101.78.0/24",
      "170.10.128.0/24",
      "170.10.129.0/24",
      "170.10.132.0/24",
      "170.10.133.0/24",
      "195.130.217.0/24",
      "205.139.110.0/24",
      "205.139.111.0/24",
      "207.82.80.0/24",
      "207.211.30.0/24",
      "207.211.31.0/25",
      "216.205.24.0/24",
    ],
  },
  { name: "Trend Micro's networks", ranges: ["150.70.0.0/16", "216.104.0.0/19"] },
]

/** A page that documents scanners or publishes their networks. */
export interface Source {
  readonly url: string
  /** Date of the last check, such as `2026-11-21`. */
  readonly read: string
  /** Names of the agents and networks that the page documents. */
  readonly entries: readonly string[]
}

/** Sources of each agent and network. A separate export, so that bundles without it stay small. */
export const SOURCES: readonly Source[] = [
  {
    url: "https://check.live-direct-marketing.online/blog/bot-clicks-security-scanners-detect",
    read: "2026-11-21",
    entries: ["Barracuda", "Proofpoint", "Mimecast", "Cisco Secure Email", "Trend Micro", "FortiMail"],
  },
  {
    // Version 1.60.0 on npm, which links to each scanner's page.
    url: "https://github.com/monperrus/crawler-user-agents",
    read: "2026-11-26",
    entries: [
      "Google Safety",
      "VirusTotal",
      "Splunk Attack Analyzer",
      "Cloudflare Radar",
      "Netcraft",
      "ZGrab",
      "Skype and Teams",
      "Microsoft and Bing preview",
      "Yahoo Link Preview",
      "Google Web Preview",
      "Facebook",
      "WhatsApp",
      "Slack",
      "Snapchat",
      "Embedly",
      "Iframely",
      "previews and unfurlers",
      "headless Chrome",
      "PhantomJS",
      "Lighthouse",
      "curl",
      "Wget",
      "Python",
      "Go",
      "Perl",
      "Java",
      "Ruby",
      "Node",
      "bots by their own account",
      "programs with a contact",
    ],
  },
  {
    url: "https://learn.microsoft.com/en-us/archive/blogs/vsofficedeveloper/microsoft-office-existence-discovery",
    read: "2026-11-21",
    entries: ["Microsoft Office discovery"],
  },
  {
    // Clicks one to three seconds after the messages were sent.
    url: "https://github.com/gophish/gophish/issues/1555",
    read: "2026-11-30",
    entries: ["Internet Explorer 7 to 10"],
  },
  {
    // Endpoint sets 9 and 10.
    url: "https://learn.microsoft.com/en-us/microsoft-365/enterprise/urls-and-ip-address-ranges",
    read: "2026-11-21",
    entries: ["Microsoft Defender for Office 365"],
  },
  {
    // Describes the scanner and its network, not its user agent.
    url: "https://github.com/MicrosoftDocs/OfficeDocs-Enterprise/issues/544",
    read: "2026-11-21",
    entries: ["Microsoft Safe Links", "Safe Links"],
  },
  {
    url: "https://campus.barracuda.com/product/emailgatewaydefense/doc/96023004/ip-analysis-inbound/",
    read: "2026-11-21",
    entries: ["Barracuda Email Gateway Defense"],
  },
  {
    url: "https://proofpoint.my.site.com/support/PPSup_SupportInfo",
    read: "2026-11-21",
    entries: ["Proofpoint's networks"],
  },
  {
    // The page "Mimecast Data Centers and URLs".
    url: "https://mimecastsupport.zendesk.com/hc/en-us",
    read: "2026-11-21",
    entries: ["Mimecast's networks"],
  },
  {
    url: "https://serverfault.com/questions/138240/strange-iis-hits-originating-from-trend-micro",
    read: "2026-11-21",
    entries: ["Trend Micro's networks"],
  },
]
