"""Read-only bandwidth: no kernel reads faster."""
