# SPDX-License-Identifier: MIT
"""What people call a hypervisor that signs itself in twelve letters (CPUID leaf 0x40000000)."""

from __future__ import annotations

NAMES = {
    "KVMKVMKVM": "KVM",
    "Linux KVM Hv": "KVM, as Hyper-V",
    "TCGTCGTCGTCG": "QEMU without KVM (TCG)",
    "Microsoft Hv": "Hyper-V",
    "VMwareVMware": "VMware",
    "XenVMMXenVMM": "Xen",
    "VBoxVBoxVBox": "VirtualBox",
    "bhyve bhyve ": "bhyve",
    "ACRNACRNACRN": "ACRN",
    "Jailhouse": "Jailhouse",
}


def show_hypervisor(signature: str | None) -> str | None:
    """An unknown one keeps its signature."""
    return NAMES.get(signature, signature) if signature else None
