import type { Kept, Step } from './step.ts';

/** A profile with every group of properties. */
const production = {
  id: 'production',
  description: 'Production cluster, Frankfurt',
  services: ['OperationsManager', 'ConfigurationManager', 'LifecycleManager'],
  serviceDirectory: '/opt/platform/services',
  uiProps: {
    description: 'Corporate layout',
    layout: 'wide',
    home: 'dashboard',
    login: 'Welcome to network automation',
    profile: 'account',
    fav_icon: '/assets/favicon.ico',
  },
  authenticationProps: {
    description: 'Local accounts and Azure AD',
    logoutTime: 60,
    principalTimeout: 5,
    relayStateTimeout: 300,
    uniqueSession: false,
    admins: ['admins', { group: 'Platform Admins', provenance: 'azure-ad' }],
    cookieName: 'token',
    brokerPrincipal: false,
  },
  expressProps: {
    description: 'Behind the load balancer',
    cacheControl: true,
    timeout: 60_000,
    access_control_allow_origin: 'https://portal.example.net',
    express_http: { enabled: false, port: 3000 },
    express_https: {
      enabled: true,
      port: 3443,
      key: '/etc/platform/tls/server.key',
      cert: '/etc/platform/tls/server.pem',
      passphrase: 'demo-passphrase',
    },
    allowedHttpOptionalVerbs: ['PROPFIND', 'SEARCH'],
  },
  loggerProps: {
    description: 'Files for two weeks',
    log_directory: '/var/log/platform',
    log_filename: 'platform.log',
    log_max_file_size: 10_485_760,
    log_max_files: 14,
    log_level: 'info',
    console_level: 'warn',
    log_format_json: true,
    console_format_json: true,
    webserver: { logDirectory: '/var/log/platform', logFilename: 'access.log', timezone: 'UTC' },
    syslog: { host: '192.0.2.20', port: 514, protocol: 'udp4', facility: 'local0', level: 'warn' },
  },
  redisProps: { host: 'redis.example.net', port: 6379, db: 0, username: 'platform', password: 'demo-redis-password' },
  auditProps: { description: 'All that changes', audit: true, brokerValidation: false },
  pathProps: { description: 'As delivered', encrypted: false },
  alarmProps: [
    {
      description: 'NOC trap receiver',
      ip: 'traps.example.net',
      community: 'demo-community',
      type: 'trap',
      properties: { description: 'Standby in Munich', ip: '192.0.2.31', community: 'demo-standby', type: 'inform' },
    },
  ],
  adapterStrategy: { device: { order: ['lab'] } },
  systemProps: {
    shutdownTimeout: 5,
    servicesBlacklist: ['LegacyCatalog'],
    launchDelay: 1,
    launchTimeout: 60,
    serviceHealthCheckInterval: 5,
    serviceHealthCheckUnhealthyThreshold: 3,
    deadProcessCheck: true,
    deadProcessCheckInterval: 5,
    deadProcessMaxPeriod: 15,
    externalRequestTimeout: 5,
    deviceCountPollingInterval: 24,
    serverIdStrategy: 'mac:port',
    eventWorkerCount: 4,
    transformationWorkerCount: 4,
    taskWorkerThreadCount: 2,
    taskWorkerRateLimit: 100,
    taskWorkerRateLimitPeriod: 10,
  },
  integrationProps: { threadCount: 4, timeout: 15_000 },
  retryStrategy: { maxRetries: 5, retryResetTimer: 60_000 },
};

const banner = {
  active: true,
  text: 'Change freeze from 18 December: only approved changes',
  dismissible: true,
  startTime: '2026-12-14T08:00:00.000Z',
  endTime: '2027-01-04T08:00:00.000Z',
  allPages: true,
  backgroundColor: '#ffcc00',
  image:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
};

/** Profiles, of which the first is active, and the banner. */
export const profileSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({ method: 'POST', path: '/profiles', body: { properties: production } }),
  () => ({ method: 'PUT', path: '/profiles/production/active', body: {} }),
  () => ({
    method: 'PUT',
    path: '/profiles/lab',
    body: {
      properties: {
        description: 'Laboratory: talkative, nothing cached',
        expressProps: { cacheControl: false },
        loggerProps: { console_level: 'debug' },
      },
    },
  }),
  () => ({ method: 'PUT', path: '/customization/banner', body: banner }),
];
