"""Properties are tried without a clock: on a busy machine an example may take any time."""

from hypothesis import HealthCheck, settings

settings.register_profile("without a clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("without a clock")
