/** Software that names itself in `User-Agent` and is not a mail client of a person. */
export interface ScannerAgent {
  readonly name: string
  readonly pattern: RegExp
}

/** Addresses from which mail is filtered, and no mail is read. */
export interface ScannerNetwork {
  readonly name: string
  readonly ranges: readonly string[]
}

/**
 * Scanners, previewers and programs by their names.
 *
 * Not here, because a person reads the mail: Outlook itself (`Microsoft Outlook 16.0`, `ms-office`), image proxies (GoogleImageProxy,
 * YahooMailProxy), and okhttp, CFNetwork and Dalvik, with which mail apps of phones load images. Phones called CUBOT are no bots.
 */
export const AGENTS: readonly ScannerAgent[] = [
  // Scanners of mail and links.
  { name: "Barracuda", pattern: /barracuda/i },
  { name: "Proofpoint", pattern: /proofpoint/i },
  { name: "Mimecast", pattern: /mimecast/i },
  { name: "Cisco Secure Email", pattern: /ciscosecureemail|ironport/i },
  { name: "Trend Micro", pattern: /\btmes\b|trend ?micro/i },
  { name: "FortiMail", pattern: /fortimail/i },
  { name: "Google Safety", pattern: /google-safety/i },
  { name: "VirusTotal", pattern: /virustotal/i },
  { name: "Splunk Attack Analyzer", pattern: /twinwave/i },
  { name: "Cloudflare Radar", pattern: /cloudflare-?radar/i },
  { name: "Netcraft", pattern: /netcraft/i },

  // Previews of links.
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

  // Browsers without anybody before them.
  { name: "headless Chrome", pattern: /headlesschrome/i },
  { name: "PhantomJS", pattern: /phantomjs/i },
  { name: "Lighthouse", pattern: /chrome-lighthouse/i },

  // Programs.
  { name: "curl", pattern: /^curl|libcurl|php-curl/i },
  { name: "Wget", pattern: /^wget/i },
  { name: "Python", pattern: /^python|python-(?:requests|urllib|httpx)|aiohttp\//i },
  { name: "Go", pattern: /^go-http-client|^go ?[\d.]+ package http/i },
  { name: "Perl", pattern: /libwww-perl|lwp::/i },
  { name: "Java", pattern: /^java\/|^apache-httpclient|^jakarta commons/i },
  { name: "Ruby", pattern: /^ruby|^faraday/i },
  { name: "Node", pattern: /^axios|^node-fetch|^undici|^node$|^got /i },

  // All others that call themselves bots, or tell webmasters where to ask.
  { name: "bots by their own account", pattern: /(?<!cu)bots?(?![a-z])|crawl|spider|link ?check|url ?scan/i },
  { name: "programs with a contact", pattern: /\+ ?(?:https?:|mailto:|www\.|[\w.]+@)/i },
]

/** Networks of services that filter mail. Clouds in general are not among them: people work in those too. */
export const NETWORKS: readonly ScannerNetwork[] = [
  {
    // Those of Exchange Online are left out: Outlook on the web loads images from there when a person opens a message.
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

/** A page that describes scanners, or publishes their networks. */
export interface Source {
  readonly url: string
  /** The day on which it was last read, such as `2026-11-21`. */
  readonly read: string
  /** The names of the agents and networks that it describes. */
  readonly entries: readonly string[]
}

/** Where each agent and each network was found; apart from them, so that it weighs nothing where it is not used. */
export const SOURCES: readonly Source[] = [
  {
    url: "https://check.live-direct-marketing.online/blog/bot-clicks-security-scanners-detect",
    read: "2026-11-21",
    entries: ["Barracuda", "Proofpoint", "Mimecast", "Cisco Secure Email", "Trend Micro", "FortiMail"],
  },
  {
    url: "https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers",
    read: "2026-11-21",
    entries: ["Google Safety"],
  },
  { url: "https://www.virustotal.com/gui/home/url", read: "2026-11-21", entries: ["VirusTotal"] },
  {
    url: "https://www.splunk.com/en_us/products/attack-analyzer.html",
    read: "2026-11-21",
    entries: ["Splunk Attack Analyzer"],
  },
  { url: "https://radar.cloudflare.com", read: "2026-11-21", entries: ["Cloudflare Radar"] },
  {
    // Version 1.60.0 on npm.
    url: "https://github.com/monperrus/crawler-user-agents",
    read: "2026-11-26",
    entries: [
      "Netcraft",
      "Skype and Teams",
      "Google Web Preview",
      "previews and unfurlers",
      "Python",
      "Perl",
      "Java",
      "Ruby",
      "Node",
      "bots by their own account",
      "programs with a contact",
    ],
  },
  {
    url: "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0",
    read: "2026-11-21",
    entries: ["Microsoft and Bing preview"],
  },
  {
    url: "https://help.yahoo.com/kb/mail/yahoo-link-preview-SLN23615.html",
    read: "2026-11-21",
    entries: ["Yahoo Link Preview"],
  },
  {
    url: "https://developers.facebook.com/docs/sharing/webmasters/crawler/",
    read: "2026-11-21",
    entries: ["Facebook"],
  },
  { url: "https://www.whatsapp.com/", read: "2026-11-21", entries: ["WhatsApp"] },
  { url: "https://api.slack.com/robots", read: "2026-11-21", entries: ["Slack"] },
  { url: "https://business.snapchat.com/legal/snapchat-automated-crawler", read: "2026-11-21", entries: ["Snapchat"] },
  { url: "http://support.embed.ly", read: "2026-11-21", entries: ["Embedly"] },
  { url: "https://iframely.com/docs/about", read: "2026-11-21", entries: ["Iframely"] },
  {
    url: "https://learn.microsoft.com/en-us/archive/blogs/vsofficedeveloper/microsoft-office-existence-discovery",
    read: "2026-11-21",
    entries: ["Microsoft Office discovery"],
  },
  {
    url: "https://developers.google.com/web/updates/2017/04/headless-chrome",
    read: "2026-11-21",
    entries: ["headless Chrome"],
  },
  { url: "http://phantomjs.org/", read: "2026-11-21", entries: ["PhantomJS"] },
  { url: "https://developers.google.com/speed/pagespeed/insights", read: "2026-11-21", entries: ["Lighthouse"] },
  { url: "https://curl.se/", read: "2026-11-21", entries: ["curl"] },
  { url: "https://www.gnu.org/software/wget/", read: "2026-11-21", entries: ["Wget"] },
  { url: "https://pkg.go.dev/net/http", read: "2026-11-21", entries: ["Go"] },
  {
    // The ids 9 and 10.
    url: "https://learn.microsoft.com/en-us/microsoft-365/enterprise/urls-and-ip-address-ranges",
    read: "2026-11-21",
    entries: ["Microsoft Defender for Office 365"],
  },
  {
    url: "https://github.com/MicrosoftDocs/OfficeDocs-Enterprise/issues/544",
    read: "2026-11-21",
    entries: ["Microsoft Safe Links"],
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
