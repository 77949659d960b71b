URL = 'postgres://me:hunter42@db/metrics'
